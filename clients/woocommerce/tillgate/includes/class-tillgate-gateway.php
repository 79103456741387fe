<?php
/**
 * The payment method: its settings, what it does at the checkout, and its refunds.
 *
 * @package Tillgate
 */

defined( 'ABSPATH' ) || exit;

/**
 * Orders are paid on Tillgate's hosted checkout.
 */
class Tillgate_Gateway extends WC_Payment_Gateway {

	public const ID          = 'tillgate';
	private const CURRENCIES = array( 'USD', 'EUR', 'GBP', 'HKD', 'SGD', 'JPY', 'DKK', 'CHF', 'SEK', 'NOK' );

	/**
	 * As the shop makes it, once per request.
	 */
	public function __construct() {
		$this->id                 = self::ID;
		$this->has_fields         = false;
		$this->method_title       = __( 'Tillgate', 'tillgate' );
		$this->method_description = __( 'Customers pay with crypto on a hosted page. Prices stay in your currency.', 'tillgate' );
		$this->supports           = array( 'products', 'refunds' );

		$this->init_form_fields();
		$this->init_settings();
		$this->title       = $this->get_option( 'title' );
		$this->description = $this->get_option( 'description' );
		add_action( 'woocommerce_update_options_payment_gateways_' . self::ID, array( $this, 'process_admin_options' ) );
	}

	/**
	 * The API in a mode.
	 *
	 * @param string $mode test or live.
	 */
	public static function api( string $mode ): Tillgate_Api {
		return new Tillgate_Api( self::setting( 'address' ), self::setting( $mode . '_key' ) );
	}

	/**
	 * A saved setting.
	 *
	 * @param string $name Of the setting.
	 */
	public static function setting( string $name ): string {
		$settings = get_option( 'woocommerce_' . self::ID . '_settings', array() );
		return is_array( $settings ) ? (string) ( $settings[ $name ] ?? '' ) : '';
	}

	/**
	 * For the merchant, under WooCommerce, Status, Logs.
	 *
	 * @param string $message What went wrong.
	 */
	public static function log( string $message ): void {
		wc_get_logger()->error( $message, array( 'source' => self::ID ) );
	}

	/**
	 * Where deliveries go.
	 */
	public static function webhook_url(): string {
		return WC()->api_request_url( self::ID );
	}

	/**
	 * What can be set.
	 */
	public function init_form_fields(): void {
		$webhook = sprintf(
			/* translators: %s: an address */
			__( 'Filled in when you save, if your key may register webhooks. Otherwise register %s in Tillgate and paste its secret.', 'tillgate' ),
			'<code>' . esc_url( self::webhook_url() ) . '</code>'
		);
		$this->form_fields = array(
			'enabled'             => array(
				'title'   => __( 'Enable', 'tillgate' ),
				'label'   => __( 'Take payments with Tillgate', 'tillgate' ),
				'type'    => 'checkbox',
				'default' => 'no',
			),
			'title'               => array(
				'title'       => __( 'Title', 'tillgate' ),
				'description' => __( 'What customers see at the checkout.', 'tillgate' ),
				'type'        => 'text',
				'default'     => __( 'Crypto', 'tillgate' ),
				'desc_tip'    => true,
			),
			'description'         => array(
				'title'   => __( 'Description', 'tillgate' ),
				'type'    => 'textarea',
				'default' => __( 'Pay with crypto. You will be taken to a secure payment page.', 'tillgate' ),
			),
			'address'             => array(
				'title'       => __( 'Server address', 'tillgate' ),
				'description' => __( 'Where your Tillgate is, such as https://pay.example.com.', 'tillgate' ),
				'type'        => 'text',
				'default'     => '',
			),
			'mode'                => array(
				'title'       => __( 'Mode', 'tillgate' ),
				'description' => __( 'Test payments need no coins. Nothing is charged.', 'tillgate' ),
				'type'        => 'select',
				'default'     => 'test',
				'options'     => array(
					'test' => __( 'Test', 'tillgate' ),
					'live' => __( 'Live', 'tillgate' ),
				),
			),
			'test_key'            => array(
				'title'   => __( 'Test API key', 'tillgate' ),
				'type'    => 'password',
				'default' => '',
			),
			'test_webhook_secret' => array(
				'title'       => __( 'Test webhook secret', 'tillgate' ),
				'description' => $webhook,
				'type'        => 'password',
				'default'     => '',
			),
			'live_key'            => array(
				'title'   => __( 'Live API key', 'tillgate' ),
				'type'    => 'password',
				'default' => '',
			),
			'live_webhook_secret' => array(
				'title'       => __( 'Live webhook secret', 'tillgate' ),
				'description' => $webhook,
				'type'        => 'password',
				'default'     => '',
			),
		);
	}

	/**
	 * The server's address: http or https, without a path at its end.
	 *
	 * @param string      $key   Of the field.
	 * @param string|null $value As it was typed.
	 * @throws Exception Shown at the top of the page.
	 */
	public function validate_address_field( $key, $value ): string {
		$address = untrailingslashit( esc_url_raw( trim( (string) $value ), array( 'http', 'https' ) ) );
		if ( '' === $address && '' !== trim( (string) $value ) ) {
			// phpcs:ignore WordPress.Security.EscapeOutput.ExceptionNotEscaped -- Escaped where it is shown.
			throw new Exception( __( 'The server address must start with https://.', 'tillgate' ) );
		}
		return $address;
	}

	/**
	 * A secret key of test mode.
	 *
	 * @param string      $key   Of the field.
	 * @param string|null $value As it was typed.
	 */
	public function validate_test_key_field( $key, $value ): string {
		return $this->checked_key( (string) $value, 'svc_sk_test_' );
	}

	/**
	 * A secret key of live mode.
	 *
	 * @param string      $key   Of the field.
	 * @param string|null $value As it was typed.
	 */
	public function validate_live_key_field( $key, $value ): string {
		return $this->checked_key( (string) $value, 'svc_sk_live_' );
	}

	/**
	 * A key that isn't of this mode is refused here, rather than at the first customer.
	 *
	 * @param string $value  As it was typed.
	 * @param string $prefix Of keys in this mode.
	 * @throws Exception Shown at the top of the page.
	 */
	private function checked_key( string $value, string $prefix ): string {
		$value = trim( $value );
		if ( '' !== $value && 1 !== preg_match( '/^' . $prefix . '[0-9A-Za-z]+$/', $value ) ) {
			/* translators: %s: how a key begins, such as svc_sk_test_ */
			$text = __( 'This key must be a secret key that starts with %s.', 'tillgate' );
			// phpcs:ignore WordPress.Security.EscapeOutput.ExceptionNotEscaped -- Escaped where it is shown.
			throw new Exception( sprintf( $text, $prefix ) );
		}
		return $value;
	}

	/**
	 * Save, and register the webhook for a key that has none yet. WooCommerce has checked the nonce and the right to.
	 */
	public function process_admin_options() {
		$saved = parent::process_admin_options();
		foreach ( array( 'test', 'live' ) as $mode ) {
			$has_secret = '' !== $this->get_option( $mode . '_webhook_secret' );
			if ( $has_secret || '' === $this->get_option( $mode . '_key' ) || '' === $this->get_option( 'address' ) ) {
				continue;
			}
			try {
				$endpoint = self::api( $mode )->register_webhook( self::webhook_url(), home_url(), Tillgate_Webhook::EVENTS );
				$this->update_option( $mode . '_webhook_secret', (string) $endpoint['signing_secret'] );
			} catch ( Tillgate_Error $error ) {
				/* translators: %s: what the server said */
				$this->add_error( sprintf( __( 'The webhook could not be registered: %s', 'tillgate' ), $error->getMessage() ) );
			}
		}
		foreach ( $this->get_errors() as $error ) {
			WC_Admin_Settings::add_error( $error ); // The page escapes and shows them.
		}
		return $saved;
	}

	/**
	 * Not offered without what a payment needs: a customer would pay, and the order would never hear of it.
	 */
	public function is_available(): bool {
		$mode = $this->get_option( 'mode' );
		return parent::is_available()
			&& in_array( get_woocommerce_currency(), self::CURRENCIES, true )
			&& '' !== $this->get_option( 'address' )
			&& '' !== $this->get_option( $mode . '_key' )
			&& '' !== $this->get_option( $mode . '_webhook_secret' );
	}

	/**
	 * The customer has placed the order: make its payment and send them there.
	 *
	 * @param int $order_id Of the order.
	 * @return array<string, string>
	 */
	public function process_payment( $order_id ): array {
		$order = wc_get_order( $order_id );
		try {
			return array(
				'result'   => 'success',
				'redirect' => $this->payment_page( $order ),
			);
		} catch ( Tillgate_Error $error ) {
			self::log( 'Order ' . $order_id . ' got no payment: ' . $error->getMessage() );
			wc_add_notice( __( 'The payment could not be started. Try again in a moment, or choose another payment method.', 'tillgate' ), 'error' );
			return array( 'result' => 'failure' );
		}
	}

	/**
	 * The page of the order's payment: the one that it has, if that can be paid still, or a new one.
	 *
	 * @param WC_Order $order The order.
	 * @throws Tillgate_Error When the API can't be reached, or refuses.
	 */
	private function payment_page( WC_Order $order ): string {
		$mode  = $this->get_option( 'mode' );
		$known = $mode === $order->get_meta( Tillgate_Payments::MODE ) ? Tillgate_Payments::newest_first( $order, $mode ) : array();
		foreach ( $known as $payment ) {
			if ( Tillgate_Payments::has_money( $payment ) ) {
				return $this->page_of_money( $order, $payment );
			}
		}
		foreach ( $known as $payment ) {
			$is_open = 'pending' === $payment['status'] && strtotime( $payment['expires_at'] ) > time();
			if ( $is_open && Tillgate_Payments::is_asked( $order, $payment ) ) {
				$order->update_meta_data( Tillgate_Payments::CURRENT, $payment['id'] );
				$order->save();
				return $payment['hosted_url'];
			}
		}
		if ( array() !== $known ) {
			$order->update_meta_data( Tillgate_Orders::ATTEMPT, 1 + (int) $order->get_meta( Tillgate_Orders::ATTEMPT ) );
		}
		$payment  = self::api( $mode )->create_payment( $this->payment_fields_of( $order ), $this->key_of( $order, 'payment' ) );
		$payments = array_diff( Tillgate_Payments::ids( $order ), array( $payment['id'] ) );

		$order->update_meta_data( Tillgate_Payments::CURRENT, $payment['id'] );
		$order->update_meta_data( Tillgate_Payments::ALL, array( ...array_values( $payments ), $payment['id'] ) );
		$order->update_meta_data( Tillgate_Payments::MODE, $mode );
		/* translators: %s: reference of a payment */
		$order->add_order_note( sprintf( __( 'Waiting for payment %s.', 'tillgate' ), $payment['reference'] ) );
		$order->save();
		return $payment['hosted_url'];
	}

	/**
	 * Where a customer goes whose money has come already: never to a new payment. What isn't what the order asks for,
	 * or came too late, is for the merchant to decide.
	 *
	 * @param WC_Order             $order   The order.
	 * @param array<string, mixed> $payment The one that has it.
	 */
	private function page_of_money( WC_Order $order, array $payment ): string {
		$is_asked = Tillgate_Payments::is_asked( $order, $payment );
		if ( $is_asked && 'completed' === $payment['status'] ) {
			return $this->get_return_url( $order );
		}
		$order->update_meta_data( Tillgate_Payments::CURRENT, $payment['id'] );
		if ( ! $is_asked || 'processing' !== $payment['status'] ) {
			( new Tillgate_Change( $order, $payment ) )->ask_merchant();
		}
		$order->save();
		return $payment['hosted_url'];
	}

	/**
	 * What the payment is asked for with.
	 *
	 * @param WC_Order $order The order.
	 * @return array<string, mixed>
	 */
	private function payment_fields_of( WC_Order $order ): array {
		/* translators: 1: number of an order, 2: name of the shop */
		$title  = sprintf( __( 'Order %1$s at %2$s', 'tillgate' ), $order->get_order_number(), get_bloginfo( 'name' ) );
		$fields = array(
			'amount'      => Tillgate_Amounts::fiat( $order->get_total() ),
			'currency'    => $order->get_currency(),
			'title'       => mb_substr( wp_strip_all_tags( html_entity_decode( $title, ENT_QUOTES, 'UTF-8' ) ), 0, 150 ),
			'order_id'    => mb_substr( (string) $order->get_order_number(), 0, 255 ),
			'success_url' => $this->get_return_url( $order ),
			'failed_url'  => $order->get_checkout_payment_url(),
			'metadata'    => array(
				'wc_order_id' => (string) $order->get_id(),
				'shop'        => home_url(),
			),
		);
		$minutes = absint( get_option( 'woocommerce_hold_stock_minutes', 0 ) );
		if ( $minutes > 0 ) {
			$fields['expires_in'] = min( 86400, max( 300, $minutes * 60 ) ); // No longer than the stock is held.
		}
		return $fields;
	}

	/**
	 * The same for the same order, amount and attempt, however often the customer clicks.
	 *
	 * @param WC_Order $order The order.
	 * @param string   ...$of What the call is for.
	 */
	private function key_of( WC_Order $order, string ...$of ): string {
		$parts = array( home_url(), $order->get_order_key(), $order->get_total(), $order->get_currency(), (int) $order->get_meta( Tillgate_Orders::ATTEMPT ) );
		return 'wc-' . hash( 'sha256', (string) wp_json_encode( array( ...$parts, ...$of ) ) );
	}

	/**
	 * Refund from the order's page. The shop's amount is turned into coins at the rate that was paid.
	 *
	 * @param int               $order_id Of the order.
	 * @param float|string|null $amount   In the order's currency; null or nothing is all of it.
	 * @param string            $reason   For the shop's own records.
	 * @return bool|WP_Error
	 */
	public function process_refund( $order_id, $amount = null, $reason = '' ) {
		$order = wc_get_order( $order_id );
		if ( ! $order instanceof WC_Order || '' === Tillgate_Payments::current( $order ) ) {
			return new WP_Error( 'tillgate_no_payment', __( 'This order wasn\'t paid with Tillgate.', 'tillgate' ) );
		}
		$total = Tillgate_Amounts::cents( $order->get_total() );
		$part  = null === $amount || '' === $amount ? $total : Tillgate_Amounts::cents( $amount );
		if ( $part <= 0 || $part > $total ) {
			return new WP_Error( 'tillgate_amount', __( 'Enter an amount up to the total of the order.', 'tillgate' ) );
		}
		try {
			$api     = Tillgate_Payments::api( $order );
			$payment = $api->payment( $this->paid_with( $order ) );
			$coins   = $part === $total ? null : self::coins_of( $payment, $part, $total );
			$key     = $this->key_of( $order, 'refund', (string) $part, (string) $order->get_total_refunded() );
			$refunds = $api->refund( $payment['id'], $coins, $key );
		} catch ( Tillgate_Error $error ) {
			return new WP_Error( 'tillgate_refused', $error->getMessage() );
		}
		return $this->refund_result( $order, $refunds );
	}

	/**
	 * The payment that the order was completed with.
	 *
	 * @param WC_Order $order The order.
	 * @throws Tillgate_Error When none of them can be read.
	 */
	private function paid_with( WC_Order $order ): string {
		$ids = Tillgate_Payments::ids( $order );
		$api = Tillgate_Payments::api( $order );
		foreach ( $ids as $id ) {
			if ( count( $ids ) > 1 && $api->payment( $id )['reference'] === $order->get_transaction_id() ) {
				return $id;
			}
		}
		return Tillgate_Payments::current( $order );
	}

	/**
	 * A part of what was paid, in coins.
	 *
	 * @param array<string, mixed> $payment As the API has it.
	 * @param int                  $part    Cents.
	 * @param int                  $total   Cents.
	 * @throws Tillgate_Error When no single coin was received.
	 */
	private static function coins_of( array $payment, int $part, int $total ): string {
		$assets = $payment['financials']['assets'] ?? array();
		if ( 1 !== count( $assets ) ) {
			// phpcs:ignore WordPress.Security.EscapeOutput.ExceptionNotEscaped -- Escaped where it is shown.
			throw new Tillgate_Error( __( 'Several coins were paid. Refund this payment in Tillgate.', 'tillgate' ) );
		}
		return Tillgate_Amounts::share( $assets[0]['gross_atomic'], (int) $assets[0]['atomic_decimals'], $part, $total );
	}

	/**
	 * A refund that isn't the one that was asked for must not look like it.
	 *
	 * @param WC_Order                         $order   The order.
	 * @param array<int, array<string, mixed>> $refunds The API's answer.
	 * @return bool|WP_Error
	 */
	private function refund_result( WC_Order $order, array $refunds ) {
		if ( array() === $refunds ) {
			return new WP_Error( 'tillgate_nothing', __( 'Tillgate made no refund. See the payment there.', 'tillgate' ) );
		}
		foreach ( $refunds as $refund ) {
			if ( ! empty( $refund['refund_in_progress'] ) ) {
				return new WP_Error( 'tillgate_in_progress', __( 'Another refund of this payment is under way.', 'tillgate' ) );
			}
			/* translators: %s: id of a refund */
			$order->add_order_note( sprintf( __( 'Refund %s was submitted.', 'tillgate' ), $refund['id'] ) );
		}
		return true;
	}
}
