<?php
/**
 * The calls of the API that a shop makes.
 *
 * @package Tillgate
 */

defined( 'ABSPATH' ) || exit;

/**
 * Answers are decoded JSON. Every failure is a Tillgate_Error.
 */
final class Tillgate_Api {

	private const SECONDS  = 15;
	private const ATTEMPTS = 2;

	/**
	 * A store in the mode of its key.
	 *
	 * @param string $address Where the service is.
	 * @param string $key     A secret API key.
	 */
	public function __construct( private readonly string $address, private readonly string $key ) {}

	/**
	 * Create a payment, or read the one that the same idempotency key made before.
	 *
	 * @param array<string, mixed> $fields Of the payment.
	 * @param string               $key    The idempotency key.
	 * @return array<string, mixed>
	 */
	public function create_payment( array $fields, string $key ): array {
		return $this->request( 'POST', '/payments', array( 'payment_intent' => $fields ), $key );
	}

	/**
	 * A payment as it is now.
	 *
	 * @param string $id Its id.
	 * @return array<string, mixed>
	 */
	public function payment( string $id ): array {
		return $this->request( 'GET', '/payments/' . rawurlencode( $id ) );
	}

	/**
	 * Refund a payment: all of it, or an amount in coins.
	 *
	 * @param string      $payment_id Its id.
	 * @param string|null $coins      A decimal, or null for everything.
	 * @param string      $key        The idempotency key.
	 * @return array<int, array<string, mixed>>
	 */
	public function refund( string $payment_id, ?string $coins, string $key ): array {
		$body = null === $coins ? new stdClass() : array( 'refund' => array( 'amount' => $coins ) );
		return $this->request( 'POST', '/payments/' . rawurlencode( $payment_id ) . '/refunds', $body, $key );
	}

	/**
	 * Register this shop's webhook address. The answer has a new signing secret each time.
	 *
	 * @param string             $url    The address.
	 * @param string             $shop   The shop's own.
	 * @param array<int, string> $events Their names.
	 * @return array<string, mixed>
	 */
	public function register_webhook( string $url, string $shop, array $events ): array {
		$endpoint = array(
			'url'                => $url,
			'platform'           => 'woocommerce',
			'platform_store_url' => $shop,
			'subscribed_events'  => $events,
		);
		return $this->request( 'POST', '/webhook_endpoints', array( 'webhook_endpoint' => $endpoint ) );
	}

	/**
	 * One call. What is safe to repeat is repeated once when nothing, or nothing definite, was answered.
	 *
	 * @param string               $method GET or POST.
	 * @param string               $path   Below the version.
	 * @param array|\stdClass|null $body   To be sent as JSON.
	 * @param string               $key    The idempotency key, where the call takes one.
	 * @return array<mixed>
	 * @throws Tillgate_Error When it fails.
	 */
	private function request( string $method, string $path, $body = null, string $key = '' ): array {
		$headers = array(
			'Accept'        => 'application/json',
			'Authorization' => 'Bearer ' . $this->key,
			'Content-Type'  => 'application/json',
		);
		if ( '' !== $key ) {
			$headers['Idempotency-Key'] = $key;
		}
		$request = array(
			'method'      => $method,
			'headers'     => $headers,
			'timeout'     => self::SECONDS,
			'redirection' => 0,
			'user-agent'  => 'Tillgate-WooCommerce/' . TILLGATE_VERSION,
		);
		if ( null !== $body ) {
			$request['body'] = wp_json_encode( $body );
		}
		$is_repeatable = 'GET' === $method || '' !== $key;

		for ( $attempt = 1; ; $attempt++ ) {
			try {
				return $this->attempt( $this->address . '/api/v2' . $path, $request );
			} catch ( Tillgate_Error $error ) {
				$is_unclear = 0 === $error->status || $error->status >= 500;
				if ( ! $is_repeatable || ! $is_unclear || $attempt >= self::ATTEMPTS ) {
					throw $error;
				}
			}
		}
	}

	/**
	 * Send it once.
	 *
	 * @param string               $url     The address.
	 * @param array<string, mixed> $request As wp_remote_request takes it.
	 * @return array<mixed>
	 * @throws Tillgate_Error When it fails.
	 */
	private function attempt( string $url, array $request ): array {
		$answer = wp_remote_request( $url, $request );
		if ( is_wp_error( $answer ) ) {
			// phpcs:ignore WordPress.Security.EscapeOutput.ExceptionNotEscaped -- Escaped where it is shown.
			throw new Tillgate_Error( $answer->get_error_message() );
		}
		$status = (int) wp_remote_retrieve_response_code( $answer );
		$body   = json_decode( wp_remote_retrieve_body( $answer ), true );
		if ( $status < 200 || $status >= 300 || ! is_array( $body ) ) {
			throw Tillgate_Error::of( $status, $body );
		}
		return $body;
	}
}
