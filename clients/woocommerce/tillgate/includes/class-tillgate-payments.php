<?php
/**
 * Which payments are an order's, and what each of them holds.
 *
 * @package Tillgate
 */

defined( 'ABSPATH' ) || exit;

/**
 * A payment is an order's when the order made it, when it took the place of one that is, or when it carries this shop
 * and this order in its metadata: whoever made it, also the customer by a new quote. The order follows the newest of
 * them that asks for what the order asks for. Payments are arrays, as the API has them.
 */
final class Tillgate_Payments {

	public const CURRENT = '_tillgate_payment_id'; // The one that the order follows.
	public const ALL     = '_tillgate_payment_ids'; // All that are known, oldest first.
	public const MODE    = '_tillgate_mode';

	public const READ_MAX = 10;

	/**
	 * The ids that an order knows, oldest first.
	 *
	 * @param WC_Order $order The order.
	 * @return array<int, string>
	 */
	public static function ids( WC_Order $order ): array {
		return array_values( array_filter( (array) $order->get_meta( self::ALL ) ) );
	}

	/**
	 * The id of the one that the order follows, or an empty text.
	 *
	 * @param WC_Order $order The order.
	 */
	public static function current( WC_Order $order ): string {
		return (string) $order->get_meta( self::CURRENT );
	}

	/**
	 * The API that the order's payments are read from.
	 *
	 * @param WC_Order $order The order.
	 */
	public static function api( WC_Order $order ): Tillgate_Api {
		return Tillgate_Gateway::api( (string) $order->get_meta( self::MODE ) );
	}

	/**
	 * Whether the order's payments are of this mode. One without any is of the mode that the shop is in.
	 *
	 * @param WC_Order $order The order.
	 * @param string   $mode  test or live.
	 */
	public static function is_mode( WC_Order $order, string $mode ): bool {
		$own = (string) $order->get_meta( self::MODE );
		return $mode === ( '' === $own ? Tillgate_Gateway::setting( 'mode' ) : $own );
	}

	/**
	 * Whether a payment is this order's.
	 *
	 * @param WC_Order             $order   The order.
	 * @param array<string, mixed> $payment The payment.
	 */
	public static function is_of( WC_Order $order, array $payment ): bool {
		$known = self::ids( $order );
		if ( in_array( $payment['id'], $known, true ) || in_array( $payment['renewal_of'] ?? '', $known, true ) ) {
			return true;
		}
		$metadata = $payment['metadata'] ?? array();
		return self::order_id_in( $metadata ) === $order->get_id() && home_url() === ( $metadata['shop'] ?? '' );
	}

	/**
	 * The order that metadata names, or 0.
	 *
	 * @param mixed $metadata As it came.
	 */
	public static function order_id_in( $metadata ): int {
		$id = is_array( $metadata ) ? ( $metadata['wc_order_id'] ?? '' ) : '';
		return ( is_string( $id ) || is_int( $id ) ) && 1 === preg_match( '/^[1-9][0-9]{0,17}$/D', (string) $id ) ? (int) $id : 0;
	}

	/**
	 * Whether a payment asks for what the order asks for.
	 *
	 * @param WC_Order             $order   The order.
	 * @param array<string, mixed> $payment The payment.
	 */
	public static function is_asked( WC_Order $order, array $payment ): bool {
		return Tillgate_Amounts::fiat( $order->get_total() ) === $payment['settlement_amount']
			&& $order->get_currency() === $payment['settlement_currency']
			&& self::order_id_in( $payment['metadata'] ?? array() ) === $order->get_id();
	}

	/**
	 * Keep a payment that is the order's, and follow it when it is newer than the one that is followed.
	 *
	 * @param WC_Order             $order   The order. The caller saves it.
	 * @param array<string, mixed> $payment The payment.
	 * @param string               $mode    test or live.
	 * @throws Tillgate_Error When the one that is followed can't be read.
	 */
	public static function adopt( WC_Order $order, array $payment, string $mode ): void {
		if ( in_array( $payment['id'], self::ids( $order ), true ) ) {
			return;
		}
		$is_followed = Tillgate_Orders::is_tillgates( $order )
			&& ! $order->is_paid()
			&& self::is_asked( $order, $payment )
			&& self::is_newest( $order, $payment, $mode );

		$order->update_meta_data( self::ALL, array( ...self::ids( $order ), $payment['id'] ) );
		$order->update_meta_data( self::MODE, $mode );
		if ( $is_followed ) {
			$order->update_meta_data( self::CURRENT, $payment['id'] );
			if ( '' === $order->get_payment_method() ) {
				$order->set_payment_method( Tillgate_Gateway::ID );
			}
			/* translators: %s: reference of a payment */
			$order->add_order_note( sprintf( __( 'Waiting for payment %s.', 'tillgate' ), $payment['reference'] ) );
		}
	}

	/**
	 * The order's payments as they are now, newest first, with the new quotes that took their places.
	 *
	 * @param WC_Order $order The order. The caller saves it.
	 * @param string   $mode  test or live.
	 * @return array<int, array<string, mixed>>
	 * @throws Tillgate_Error When one of them can't be read.
	 */
	public static function newest_first( WC_Order $order, string $mode ): array {
		$api   = Tillgate_Gateway::api( $mode );
		$found = array();
		for ( $ids = array_slice( self::ids( $order ), -self::READ_MAX ); array() !== $ids; ) {
			$payment = $api->payment( array_shift( $ids ) );
			$next    = (string) ( $payment['renewed_as'] ?? '' );
			$found[] = $payment;
			self::adopt( $order, $payment, $mode );
			if ( '' !== $next && ! in_array( $next, array( ...$ids, ...array_column( $found, 'id' ) ), true ) ) {
				$ids[] = $next;
			}
		}
		usort( $found, fn( array $one, array $other ) => self::made_at( $other ) <=> self::made_at( $one ) );
		return $found;
	}

	/**
	 * When it was made.
	 *
	 * @param array<string, mixed> $payment The payment.
	 */
	private static function made_at( array $payment ): DateTimeImmutable {
		return new DateTimeImmutable( $payment['created_at'] );
	}

	/**
	 * Whether it was made after the one that the order follows.
	 *
	 * @param WC_Order             $order   The order.
	 * @param array<string, mixed> $payment The payment.
	 * @param string               $mode    test or live.
	 * @throws Tillgate_Error When that can't be read.
	 */
	private static function is_newest( WC_Order $order, array $payment, string $mode ): bool {
		$current = self::current( $order );
		if ( '' === $current || ( $payment['renewal_of'] ?? '' ) === $current ) {
			return true;
		}
		$other = Tillgate_Gateway::api( $mode )->payment( $current );
		return self::made_at( $payment ) > self::made_at( $other );
	}

	/**
	 * Whether the customer's money is in it: on its way, counted, or waiting for the merchant to decide.
	 *
	 * @param array<string, mixed> $payment The payment.
	 */
	public static function has_money( array $payment ): bool {
		if ( in_array( $payment['status'], array( 'processing', 'completed' ), true ) ) {
			return true;
		}
		$refund = $payment['refund_state'] ?? 'none';
		if ( 'refunded' === $payment['status'] && 'partial' === $refund ) {
			return true;
		}
		$is_returned = 'none' !== $refund;
		return ! $is_returned && ( self::accepted_cents( $payment ) > 0 || array() !== self::undecided( $payment ) );
	}

	/**
	 * What the merchant accepted beyond the payment's own rules, in cents of its currency.
	 *
	 * @param array<string, mixed> $payment The payment.
	 */
	public static function accepted_cents( array $payment ): int {
		return Tillgate_Amounts::cents( $payment['accepted_late_amount'] ?? '0' );
	}

	/**
	 * Coins that came after the payment's time, or in another coin than their address is for.
	 *
	 * @param array<string, mixed> $payment The payment.
	 * @return array<int, array<string, mixed>>
	 */
	public static function strays( array $payment ): array {
		$is_stray = fn( array $one ) => ( ! empty( $one['late'] ) || ! empty( $one['unexpected_asset'] ) ) && 'failed' !== $one['status'];
		return array_values( array_filter( $payment['transactions'] ?? array(), $is_stray ) );
	}

	/**
	 * Those of them that the merchant has neither accepted nor returned.
	 *
	 * @param array<string, mixed> $payment The payment.
	 * @return array<int, array<string, mixed>>
	 */
	private static function undecided( array $payment ): array {
		return array_filter( self::strays( $payment ), fn( array $one ) => ! empty( $one['undecided'] ) );
	}
}
