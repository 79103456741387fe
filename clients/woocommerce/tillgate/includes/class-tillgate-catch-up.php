<?php
/**
 * What the shop does by itself when deliveries don't come.
 *
 * @package Tillgate
 */

defined( 'ABSPATH' ) || exit;

/**
 * Every quarter of an hour some orders are compared with their payments: those that wait for money, newest first and in
 * turn, and paid ones, which may have been refunded. A delivery that was lost costs a delay, no order.
 */
final class Tillgate_Catch_Up {

	public const HOOK     = 'tillgate_catch_up';
	public const INTERVAL = 'tillgate_quarter_hour';
	public const PLACES   = 'tillgate_catch_up_pages'; // The page of orders that is next, per group.

	private const GROUPS = array(
		'open' => array(
			'status' => array( 'pending', 'on-hold', 'failed', 'cancelled' ),
			'days'   => 14,
			'limit'  => 25,
		),
		'paid' => array(
			'status' => array( 'processing', 'completed' ),
			'days'   => 30,
			'limit'  => 10,
		),
	);

	/**
	 * The interval that WordPress doesn't have.
	 *
	 * @param array<string, array<string, mixed>> $schedules Known ones.
	 * @return array<string, array<string, mixed>>
	 */
	public static function add_interval( array $schedules ): array {
		$schedules[ self::INTERVAL ] = array(
			'interval' => 15 * MINUTE_IN_SECONDS,
			'display'  => __( 'Every quarter of an hour', 'tillgate' ),
		);
		return $schedules;
	}

	/**
	 * From the first request with the plugin on.
	 */
	public static function schedule(): void {
		if ( false === wp_next_scheduled( self::HOOK ) ) {
			wp_schedule_event( time(), self::INTERVAL, self::HOOK );
		}
	}

	/**
	 * Compare the next orders of each group. A server that is away is asked again the next time.
	 */
	public static function run(): void {
		$pages = get_option( self::PLACES, array() );
		$pages = is_array( $pages ) ? $pages : array();
		foreach ( self::GROUPS as $name => $group ) {
			$page   = max( 1, (int) ( $pages[ $name ] ?? 1 ) );
			$orders = wc_get_orders(
				array(
					'payment_method' => Tillgate_Gateway::ID,
					'status'         => $group['status'],
					'date_created'   => '>' . ( time() - $group['days'] * DAY_IN_SECONDS ),
					'limit'          => $group['limit'],
					'paged'          => $page,
					'orderby'        => 'date',
					'order'          => 'DESC',
				)
			);
			if ( ! self::compare( $orders ) ) {
				break;
			}
			$pages[ $name ] = count( $orders ) < $group['limit'] ? 1 : $page + 1;
		}
		update_option( self::PLACES, $pages, false );
	}

	/**
	 * Each with all of its payments. False when the server didn't answer.
	 *
	 * @param array<int, WC_Order> $orders The orders.
	 */
	private static function compare( array $orders ): bool {
		foreach ( $orders as $order ) {
			$mode = (string) $order->get_meta( Tillgate_Payments::MODE );
			foreach ( array_slice( Tillgate_Payments::ids( $order ), -Tillgate_Payments::READ_MAX ) as $id ) {
				try {
					Tillgate_Orders::follow( $order->get_id(), $id, $mode );
				} catch ( Tillgate_Error $error ) {
					Tillgate_Gateway::log( 'Order ' . $order->get_id() . ' could not be compared with its payments: ' . $error->getMessage() );
					if ( 404 !== $error->status ) {
						return false;
					}
				} catch ( Throwable $fault ) { // Of another plugin, at this order.
					Tillgate_Gateway::log( 'Order ' . $order->get_id() . ' could not follow its payments: ' . $fault->getMessage() );
				}
			}
		}
		return true;
	}
}
