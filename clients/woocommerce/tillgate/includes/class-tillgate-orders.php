<?php
/**
 * What a payment does to its order.
 *
 * @package Tillgate
 */

defined( 'ABSPATH' ) || exit;

/**
 * An order knows the ids of all payments that were made for it. Whatever an event says, the payment is read from the
 * API and the order follows what it is now, so that repeated and overtaken events do no harm.
 */
final class Tillgate_Orders {

	public const PAYMENT  = '_tillgate_payment_id'; // The current one.
	public const PAYMENTS = '_tillgate_payment_ids'; // All of them, the current one last.
	public const ATTEMPT  = '_tillgate_attempt';
	public const MODE     = '_tillgate_mode';
	private const APPLIED = '_tillgate_applied'; // The state that the order follows.
	private const EVENTS  = '_tillgate_event_ids';

	private const EVENTS_KEPT  = 100;
	private const LOCK_SECONDS = 60;

	/**
	 * The customer is back before the webhook: look at once. The webhook remains what counts.
	 *
	 * @param int $order_id Of the order.
	 */
	public static function refresh( $order_id ): void {
		$order = wc_get_order( $order_id );
		if ( ! $order instanceof WC_Order || $order->is_paid() || '' === (string) $order->get_meta( self::PAYMENT ) ) {
			return;
		}
		try {
			self::follow( $order->get_id(), (string) $order->get_meta( self::PAYMENT ), '' );
		} catch ( Tillgate_Error $error ) {
			Tillgate_Gateway::log( 'Order ' . $order->get_id() . ' could not be refreshed: ' . $error->getMessage() );
		}
	}

	/**
	 * Bring the order to what its payment says now. False when somebody else is at it.
	 *
	 * @param int    $order_id   Of an order that knows the payment.
	 * @param string $payment_id Of the payment.
	 * @param string $event_id   Of the event that says so, or an empty text.
	 * @throws Tillgate_Error When the payment can't be read.
	 */
	public static function follow( int $order_id, string $payment_id, string $event_id ): bool {
		if ( ! self::lock( $order_id ) ) {
			return false;
		}
		try {
			$order   = wc_get_order( $order_id ); // Read again: it may have changed before the lock.
			$applied = (array) $order->get_meta( self::EVENTS );
			if ( '' !== $event_id && in_array( $event_id, $applied, true ) ) {
				return true;
			}
			$payment = Tillgate_Gateway::api( (string) $order->get_meta( self::MODE ) )->payment( $payment_id );
			self::apply( $order, $payment );
			if ( '' !== $event_id ) {
				$applied[] = $event_id;
				$order->update_meta_data( self::EVENTS, array_slice( array_filter( $applied ), -self::EVENTS_KEPT ) );
				$order->save();
			}
			return true;
		} finally {
			self::unlock( $order_id );
		}
	}

	/**
	 * Whether this payment was made for this order.
	 *
	 * @param WC_Order $order      The order.
	 * @param string   $payment_id Of the payment.
	 */
	public static function has_payment( WC_Order $order, string $payment_id ): bool {
		return '' !== $payment_id && in_array( $payment_id, (array) $order->get_meta( self::PAYMENTS ), true );
	}

	/**
	 * From the payment's state to the order's.
	 *
	 * @param WC_Order             $order   The order.
	 * @param array<string, mixed> $payment As the API has it.
	 */
	private static function apply( WC_Order $order, array $payment ): void {
		$state = $payment['id'] . ' ' . $payment['status'] . ' ' . ( $payment['state_reason'] ?? '' );
		if ( $state === $order->get_meta( self::APPLIED ) ) {
			return;
		}
		switch ( $payment['status'] ) {
			case 'processing':
				self::wait( $order, $payment );
				break;
			case 'completed':
				self::complete( $order, $payment );
				break;
			case 'expired':
			case 'failed':
				self::fail( $order, $payment );
				break;
			case 'refunded':
				self::refunded( $order, $payment );
				break;
			default:
				return; // Pending: nothing has arrived.
		}
		$order->update_meta_data( self::APPLIED, $state );
		$order->save();
	}

	/**
	 * Something has arrived. On hold keeps the stock and stops the shop from canceling the order.
	 *
	 * @param WC_Order             $order   The order.
	 * @param array<string, mixed> $payment As the API has it.
	 */
	private static function wait( WC_Order $order, array $payment ): void {
		if ( $order->is_paid() || ! $order->has_status( array( 'pending', 'on-hold', 'failed' ) ) ) {
			return;
		}
		if ( 'processing_underpaid' === $payment['state_reason'] ) {
			$note = sprintf(
				/* translators: 1: amount received, 2: amount due, 3: currency */
				__( 'Partially paid: %1$s of %2$s %3$s. The customer can pay the rest on the same page.', 'tillgate' ),
				$payment['amount_paid'],
				$payment['settlement_amount'],
				$payment['settlement_currency']
			);
		} else {
			$note = __( 'Payment received, awaiting confirmation.', 'tillgate' );
		}
		$order->update_status( 'on-hold', $note );
	}

	/**
	 * Paid, if it is what the order asks for.
	 *
	 * @param WC_Order             $order   The order.
	 * @param array<string, mixed> $payment As the API has it.
	 */
	private static function complete( WC_Order $order, array $payment ): void {
		if ( $order->is_paid() ) {
			if ( $order->get_transaction_id() !== $payment['reference'] ) {
				/* translators: %s: reference of a payment */
				$order->add_order_note( sprintf( __( 'Paid a second time with %s. Refund one of the payments in Tillgate.', 'tillgate' ), $payment['reference'] ) );
			}
			return;
		}
		$is_due = Tillgate_Amounts::fiat( $order->get_total() ) === $payment['settlement_amount']
			&& $order->get_currency() === $payment['settlement_currency']
			&& (string) $order->get_id() === (string) ( $payment['metadata']['wc_order_id'] ?? '' );
		if ( ! $is_due ) {
			$order->update_status(
				'on-hold',
				sprintf(
					/* translators: 1: amount, 2: currency, 3: reference of a payment */
					__( 'Review: %1$s %2$s were paid with %3$s, which isn\'t what the order asks for.', 'tillgate' ),
					$payment['settlement_amount'],
					$payment['settlement_currency'],
					$payment['reference']
				)
			);
			return;
		}
		if ( 'completed_overpaid' === $payment['state_reason'] ) {
			$order->add_order_note( __( 'The customer sent more than was due. See the payment in Tillgate.', 'tillgate' ) );
		} elseif ( 'completed_underpaid' === $payment['state_reason'] ) {
			$order->add_order_note( __( 'The customer sent less than was due, which your settings accept.', 'tillgate' ) );
		}
		$order->payment_complete( $payment['reference'] );
	}

	/**
	 * Not paid in time, or not as your settings accept it. The customer can pay again, with a new payment.
	 *
	 * @param WC_Order             $order   The order.
	 * @param array<string, mixed> $payment As the API has it.
	 */
	private static function fail( WC_Order $order, array $payment ): void {
		$is_current = $payment['id'] === $order->get_meta( self::PAYMENT );
		if ( ! $is_current || ! $order->has_status( array( 'pending', 'on-hold' ) ) ) {
			return;
		}
		$notes = array(
			'failed_underpaid' => __( 'Too little was paid in time. It is refunded to the customer.', 'tillgate' ),
			'failed_overpaid'  => __( 'Too much was paid. It is refunded to the customer.', 'tillgate' ),
		);
		$order->update_status( 'failed', $notes[ $payment['state_reason'] ] ?? __( 'The payment expired.', 'tillgate' ) );
	}

	/**
	 * Money went back, from here or from Tillgate's dashboard.
	 *
	 * @param WC_Order             $order   The order.
	 * @param array<string, mixed> $payment As the API has it.
	 */
	private static function refunded( WC_Order $order, array $payment ): void {
		$is_full = 'full' === ( $payment['refund_state'] ?? '' );
		if ( $is_full && $order->is_paid() ) {
			$order->update_status( 'refunded', __( 'The payment was refunded.', 'tillgate' ) );
			return;
		}
		if ( $order->has_status( array( 'pending', 'on-hold' ) ) ) {
			$order->update_status( 'failed', __( 'What was paid was refunded to the customer.', 'tillgate' ) );
			return;
		}
		$order->add_order_note(
			$is_full
				? __( 'The payment was refunded.', 'tillgate' )
				: __( 'Part of the payment was refunded. The rest of it can\'t be refunded with Tillgate.', 'tillgate' )
		);
	}

	/**
	 * One process per order. INSERT IGNORE is how WordPress itself locks; add_option would overwrite.
	 *
	 * @param int $order_id Of the order.
	 */
	private static function lock( int $order_id ): bool {
		global $wpdb;
		$name = 'tillgate_lock_' . $order_id;
		// phpcs:disable WordPress.DB.DirectDatabaseQuery
		$wpdb->query( $wpdb->prepare( "DELETE FROM {$wpdb->options} WHERE option_name = %s AND option_value < %d", $name, time() - self::LOCK_SECONDS ) );
		$made = $wpdb->query( $wpdb->prepare( "INSERT IGNORE INTO {$wpdb->options} (option_name, option_value, autoload) VALUES (%s, %d, 'no')", $name, time() ) );
		// phpcs:enable
		return 1 === $made;
	}

	/**
	 * Let go of it.
	 *
	 * @param int $order_id Of the order.
	 */
	private static function unlock( int $order_id ): void {
		global $wpdb;
		// phpcs:ignore WordPress.DB.DirectDatabaseQuery
		$wpdb->query( $wpdb->prepare( "DELETE FROM {$wpdb->options} WHERE option_name = %s", 'tillgate_lock_' . $order_id ) );
	}
}
