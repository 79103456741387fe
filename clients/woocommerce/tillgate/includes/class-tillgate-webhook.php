<?php
/**
 * Deliveries of Tillgate, at /wc-api/tillgate/.
 *
 * @package Tillgate
 */

defined( 'ABSPATH' ) || exit;

/**
 * A delivery proves itself by its signature, which is compared in constant time and holds for five minutes.
 */
final class Tillgate_Webhook {

	public const EVENTS = array(
		'payment_intent.processing',
		'payment_intent.completed',
		'payment_intent.expired',
		'payment_intent.failed',
		'payment_intent.refunded',
		'transaction.confirming',
		'transaction.confirmed',
		'transaction.failed',
	);

	private const TOLERANCE_SECONDS = 300;
	private const BODY_BYTES_MAX    = 1048576;
	private const LOCK_WAIT_SECONDS = 5;

	/**
	 * Answer the request and end. Anything but 2xx is delivered again.
	 */
	public static function answer(): void {
		nocache_headers();
		if ( 'POST' !== ( $_SERVER['REQUEST_METHOD'] ?? '' ) ) {
			wp_send_json( array( 'error' => 'POST only' ), 405 );
		}
		$header = isset( $_SERVER['HTTP_SERVICE_SIGNATURE'] ) ? sanitize_text_field( wp_unslash( $_SERVER['HTTP_SERVICE_SIGNATURE'] ) ) : '';
		$body   = (string) file_get_contents( 'php://input', false, null, 0, self::BODY_BYTES_MAX );
		list( $status, $answer ) = self::handle( $header, $body );
		wp_send_json( $answer, $status );
	}

	/**
	 * Whether the header proves the body.
	 *
	 * @param string $header `t=<unix seconds>,v1=<hex>`.
	 * @param string $body   Exactly as it came.
	 * @param string $secret The endpoint's signing secret.
	 */
	public static function is_genuine( string $header, string $body, string $secret ): bool {
		if ( '' === $secret || 1 !== preg_match( '/(?:^|,)t=(\d{1,12})(?:,|$)/', $header, $time ) ) {
			return false;
		}
		preg_match_all( '/(?:^|,)v1=([0-9a-f]{64})(?=,|$)/', $header, $signatures );
		$expected   = hash_hmac( 'sha256', $time[1] . '.' . $body, $secret );
		$is_genuine = false;
		foreach ( $signatures[1] as $signature ) {
			$is_genuine = hash_equals( $expected, $signature ) || $is_genuine;
		}
		return $is_genuine && abs( time() - (int) $time[1] ) <= self::TOLERANCE_SECONDS;
	}

	/**
	 * What a delivery comes to.
	 *
	 * @param string $header The signature.
	 * @param string $body   The event.
	 * @return array{int, array<string, string>} Status and body of the answer.
	 */
	private static function handle( string $header, string $body ): array {
		$mode = self::mode_of( $header, $body );
		if ( null === $mode ) {
			return array( 400, array( 'error' => 'The signature is wrong or too old' ) );
		}
		$event      = json_decode( $body, true );
		$object     = is_array( $event ) && is_array( $event['data']['object'] ?? null ) ? $event['data']['object'] : null;
		$event_id   = is_array( $event ) && is_string( $event['id'] ?? null ) ? $event['id'] : '';
		$payment_id = is_array( $object ) && is_string( $object['payment_intent_id'] ?? null ) ? $object['payment_intent_id'] : '';
		$order_id   = is_array( $object ) ? Tillgate_Payments::order_id_in( $object['metadata'] ?? null ) : 0;
		$order      = $order_id > 0 ? wc_get_order( $order_id ) : false;

		$is_heard = '' !== $event_id
			&& '' !== $payment_id
			&& self::says_something( $event['type'] ?? '', $object )
			&& ( 'live' === $mode ) === ( $event['livemode'] ?? null )
			&& $order instanceof WC_Order
			&& Tillgate_Payments::is_mode( $order, $mode );
		if ( ! $is_heard ) {
			return array( 200, array( 'result' => 'ignored' ) ); // Of another shop, or of no order.
		}
		try {
			$result = Tillgate_Orders::follow( $order->get_id(), $payment_id, $mode, $event_id, $event['type'], self::LOCK_WAIT_SECONDS );
		} catch ( Tillgate_Error $error ) {
			if ( 404 === $error->status ) {
				return array( 200, array( 'result' => 'ignored' ) ); // Coming again wouldn't make it known.
			}
			Tillgate_Gateway::log( 'Event ' . $event_id . ' has to wait: ' . $error->getMessage() );
			$result = 'busy';
		} catch ( Throwable $fault ) { // Of another plugin, at this order: repeating it would turn off deliveries for all orders.
			Tillgate_Gateway::log( 'Event ' . $event_id . ' failed at order ' . $order->get_id() . ', which is looked at again later: ' . $fault->getMessage() );
			$result = 'later';
		}
		return 'busy' === $result ? array( 503, array( 'error' => 'Try again later' ) ) : array( 200, array( 'result' => $result ) );
	}

	/**
	 * Whether an order may change by it. An ordinary transaction is said by the payment's own events as well.
	 *
	 * @param mixed                     $type   Of the event.
	 * @param array<string, mixed>|null $object Of the event.
	 */
	private static function says_something( $type, ?array $object ): bool {
		$transaction = $object['transaction'] ?? array();
		$is_ordinary = is_array( $transaction ) && empty( $transaction['late'] ) && empty( $transaction['unexpected_asset'] ) && empty( $transaction['accepted_at'] );
		return in_array( $type, self::EVENTS, true )
			&& ! ( $is_ordinary && in_array( $type, array( 'transaction.confirming', 'transaction.confirmed' ), true ) );
	}

	/**
	 * Whose secret the delivery is signed with: test, live, or null for nobody's.
	 *
	 * @param string $header The signature.
	 * @param string $body   The event.
	 */
	private static function mode_of( string $header, string $body ): ?string {
		foreach ( array( 'live', 'test' ) as $mode ) {
			if ( self::is_genuine( $header, $body, Tillgate_Gateway::setting( $mode . '_webhook_secret' ) ) ) {
				return $mode;
			}
		}
		return null;
	}
}
