<?php
/**
 * How an order follows its payments.
 *
 * @package Tillgate
 */

defined( 'ABSPATH' ) || exit;

/**
 * Whatever an event says, the payment is read from the API and the order follows what it is now, so that repeated and
 * overtaken events do no harm. What a payment has become is applied once.
 */
final class Tillgate_Orders {

	public const ATTEMPT  = '_tillgate_attempt';
	private const APPLIED = '_tillgate_applied'; // What was applied or noted, each once.
	private const EVENTS  = '_tillgate_event_ids';

	private const KEPT         = 100;
	private const LOCK_SECONDS = 60;
	private const RENEWALS_MAX = 20;

	/**
	 * The customer is back before the webhook: look at once. The webhook remains what counts.
	 *
	 * @param int $order_id Of the order.
	 */
	public static function refresh( $order_id ): void {
		$order = wc_get_order( $order_id );
		if ( ! $order instanceof WC_Order || $order->is_paid() || '' === Tillgate_Payments::current( $order ) ) {
			return;
		}
		try {
			self::follow( $order->get_id(), Tillgate_Payments::current( $order ), (string) $order->get_meta( Tillgate_Payments::MODE ) );
		} catch ( Throwable $error ) { // The customer's page is shown whatever happens.
			Tillgate_Gateway::log( 'Order ' . $order->get_id() . ' could not be refreshed: ' . $error->getMessage() );
		}
	}

	/**
	 * Bring the order to what a payment says now, and to the new quotes that took its place.
	 *
	 * @param int    $order_id   Of an order.
	 * @param string $payment_id Of a payment that may be its own.
	 * @param string $mode       test or live.
	 * @param string $event_id   Of the event that says so, or an empty text.
	 * @param string $type       Of that event.
	 * @param int    $seconds    How long to wait for somebody else who is at the order.
	 * @return string ok, ignored when the payment isn't the order's, or busy when somebody else is at the order.
	 * @throws Tillgate_Error When a payment can't be read.
	 */
	public static function follow( int $order_id, string $payment_id, string $mode, string $event_id = '', string $type = '', int $seconds = 0 ): string {
		for ( $end = microtime( true ) + $seconds; ! self::lock( $order_id ); ) {
			if ( microtime( true ) >= $end ) {
				return 'busy';
			}
			usleep( 100000 );
		}
		try {
			$order = wc_get_order( $order_id ); // Read again: it may have changed before the lock.
			if ( ! $order instanceof WC_Order ) {
				return 'ignored';
			}
			$events = array_filter( (array) $order->get_meta( self::EVENTS ) );
			if ( '' !== $event_id && in_array( $event_id, $events, true ) ) {
				return 'ok';
			}
			$payment = Tillgate_Gateway::api( $mode )->payment( $payment_id );
			if ( ! Tillgate_Payments::is_of( $order, $payment ) ) {
				return 'ignored';
			}
			self::apply( $order, $payment, $mode, $type );
			self::follow_renewals( $order, $payment, $mode );
			if ( '' !== $event_id ) {
				$order->update_meta_data( self::EVENTS, array_slice( array( ...$events, $event_id ), -self::KEPT ) );
			}
			$order->save();
			return 'ok';
		} finally {
			self::unlock( $order_id );
		}
	}

	/**
	 * Whether no other payment method has the order.
	 *
	 * @param WC_Order $order The order.
	 */
	public static function is_tillgates( WC_Order $order ): bool {
		return in_array( $order->get_payment_method(), array( '', Tillgate_Gateway::ID ), true );
	}

	/**
	 * Whether something of a payment is new to the order. It is known from now on; the caller saves the order.
	 *
	 * @param WC_Order $order The order.
	 * @param string   $what  Beginning with the payment's id.
	 */
	public static function is_new( WC_Order $order, string $what ): bool {
		$known = array_filter( (array) $order->get_meta( self::APPLIED ) );
		if ( in_array( $what, $known, true ) ) {
			return false;
		}
		$order->update_meta_data( self::APPLIED, array_slice( array( ...$known, $what ), -self::KEPT ) );
		return true;
	}

	/**
	 * New quotes that the customer asked for on the payment's page.
	 *
	 * @param WC_Order             $order   The order.
	 * @param array<string, mixed> $payment As the API has it.
	 * @param string               $mode    test or live.
	 * @throws Tillgate_Error When one of them can't be read.
	 */
	private static function follow_renewals( WC_Order $order, array $payment, string $mode ): void {
		for ( $count = 0; ! empty( $payment['renewed_as'] ) && $count < self::RENEWALS_MAX; $count++ ) {
			$payment = Tillgate_Gateway::api( $mode )->payment( $payment['renewed_as'] );
			self::apply( $order, $payment, $mode );
		}
	}

	/**
	 * From what the payment is to what the order becomes.
	 *
	 * @param WC_Order             $order   The order.
	 * @param array<string, mixed> $payment As the API has it.
	 * @param string               $mode    test or live.
	 * @param string               $type    Of the event that led here.
	 * @throws Tillgate_Error When another payment of the order can't be read.
	 */
	private static function apply( WC_Order $order, array $payment, string $mode, string $type = '' ): void {
		Tillgate_Payments::adopt( $order, $payment, $mode );
		$change = new Tillgate_Change( $order, $payment );
		$change->note_strays();
		if ( self::is_new( $order, self::state_of( $payment ) ) ) {
			$change->apply_status();
		}
		$change->apply_acceptance();
		if ( 'transaction.failed' === $type ) {
			$change->apply_loss();
		}
	}

	/**
	 * What is applied once.
	 *
	 * @param array<string, mixed> $payment As the API has it.
	 */
	private static function state_of( array $payment ): string {
		$state = $payment['id'] . ' ' . $payment['status'] . ' ' . ( $payment['state_reason'] ?? '' );
		if ( 'processing_underpaid' === ( $payment['state_reason'] ?? '' ) ) {
			return $state . ' ' . $payment['amount_paid'];
		}
		return 'refunded' === $payment['status'] ? $state . ' ' . ( $payment['refund_state'] ?? '' ) : $state;
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
