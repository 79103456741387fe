<?php
// The parts of WooCommerce that the plugin meets. An order forgets what isn't saved, as the real one does.

namespace Automattic\WooCommerce\Utilities {
	final class FeaturesUtil {
		public static array $declared = array();

		public static function declare_compatibility( string $feature, string $file, bool $is ): bool {
			self::$declared[ $feature ] = $is;
			return true;
		}
	}
}

namespace Automattic\WooCommerce\Blocks\Payments\Integrations {
	abstract class AbstractPaymentMethodType {
		protected $name     = '';
		protected $settings = array();

		abstract public function initialize();

		public function get_name(): string {
			return $this->name;
		}

		protected function get_setting( string $name, $default = '' ) {
			return $this->settings[ $name ] ?? $default;
		}
	}
}

namespace {
	const STUB_STATUSES = array( 'pending', 'processing', 'on-hold', 'completed', 'cancelled', 'refunded', 'failed' );

	class WC_Order {
		private array $meta_as_saved = array();

		private function __construct( private array $row ) {}

		public static function stub_create( string $total, string $currency = 'EUR' ): self {
			$id = Stub_State::change(
				function ( array &$state ) use ( $total, $currency ): int {
					$id = $state['next']++;
					$state['orders'][ $id ] = array(
						'id' => $id, 'key' => 'wc_order_' . bin2hex( random_bytes( 7 ) ), 'total' => $total, 'currency' => $currency,
						'status' => 'pending', 'transaction' => '', 'meta' => array(), 'notes' => array(), 'refunds' => array(),
					);
					return $id;
				}
			);
			return wc_get_order( $id );
		}

		public static function stub_read( int $id ): ?self {
			$row = Stub_State::read( 'orders' )[ $id ] ?? null;
			return null === $row ? null : new self( $row );
		}

		public function save(): int {
			Stub_State::change(
				function ( array &$state ) {
					$kept = $state['orders'][ $this->row['id'] ];
					$state['orders'][ $this->row['id'] ] = array( 'notes' => $kept['notes'], 'refunds' => $kept['refunds'] ) + $this->row;
				}
			);
			return $this->row['id'];
		}

		public function get_id(): int {
			return $this->row['id'];
		}

		public function get_order_key(): string {
			return $this->row['key'];
		}

		public function get_order_number(): string {
			return (string) ( 1000 + $this->row['id'] );
		}

		public function get_total(): string {
			return $this->row['total'];
		}

		public function set_total( string $total ): void {
			$this->row['total'] = $total;
		}

		public function get_currency(): string {
			return $this->row['currency'];
		}

		public function get_status(): string {
			return $this->row['status'];
		}

		public function get_transaction_id(): string {
			return $this->row['transaction'];
		}

		public function has_status( $statuses ): bool {
			return in_array( $this->row['status'], (array) $statuses, true );
		}

		public function is_paid(): bool {
			return $this->has_status( array( 'processing', 'completed' ) );
		}

		public function get_meta( string $name ) {
			return $this->row['meta'][ $name ] ?? '';
		}

		public function update_meta_data( string $name, $value ): void {
			stub_require( null !== $value && ! is_object( $value ), "not to be kept: $name" );
			$this->row['meta'][ $name ] = $value;
		}

		public function add_order_note( string $note ): int {
			stub_require( '' !== $note, 'a note says something' );
			return Stub_State::change( fn( array &$state ): int => count( $state['orders'][ $this->row['id'] ]['notes'][] = array( $note ) ) );
		}

		public function update_status( string $status, string $note = '' ): bool {
			stub_require( in_array( $status, STUB_STATUSES, true ), "no such status: $status" );
			$this->row['status'] = $status;
			$this->save();
			if ( '' !== $note ) {
				$this->add_order_note( $note );
			}
			return true;
		}

		public function payment_complete( string $transaction = '' ): bool {
			if ( ! $this->has_status( array( 'pending', 'on-hold', 'failed', 'cancelled' ) ) ) {
				return false;
			}
			$this->row['transaction'] = $transaction;
			$this->row['status']      = 'processing';
			$this->save();
			return true;
		}

		public function get_checkout_payment_url(): string {
			return home_url( '/checkout/order-pay/' . $this->row['id'] . '/?pay_for_order=true&key=' . $this->row['key'] );
		}

		public function get_total_refunded(): float {
			return (float) array_sum( Stub_State::read( 'orders' )[ $this->row['id'] ]['refunds'] );
		}

		public function stub_notes(): array {
			return array_column( Stub_State::read( 'orders' )[ $this->row['id'] ]['notes'], 0 );
		}
	}

	function wc_get_order( $id ) {
		return WC_Order::stub_read( (int) $id ) ?? false;
	}

	/** As the shop does it: the refund is there before the gateway is asked, and is deleted when it refuses. */
	function wc_create_refund( array $asked ) {
		$id     = $asked['order_id'];
		$number = Stub_State::change(
			function ( array &$state ) use ( $id, $asked ): string {
				$number = 'r' . $state['next']++;
				$state['orders'][ $id ]['refunds'][ $number ] = (float) $asked['amount'];
				return $number;
			}
		);
		$result = $asked['gateway']->process_refund( $id, $asked['amount'], $asked['reason'] ?? '' );
		if ( true !== $result ) {
			Stub_State::change( function ( array &$state ) use ( $id, $number ) { unset( $state['orders'][ $id ]['refunds'][ $number ] ); } );
			return is_wp_error( $result ) ? $result : new WP_Error( 'error', 'The gateway refused' );
		}
		$order = wc_get_order( $id );
		if ( $order->get_total_refunded() >= (float) $order->get_total() ) {
			$order->update_status( 'refunded' );
		}
		return $result;
	}

	function wc_format_decimal( $number, $decimals ): string {
		return number_format( (float) $number, $decimals, '.', '' );
	}

	function get_woocommerce_currency(): string {
		return get_option( 'woocommerce_currency', 'EUR' );
	}

	$stub_notices = array();
	function wc_add_notice( string $text, string $type ): void {
		stub_require( in_array( $type, array( 'success', 'error', 'notice' ), true ), "no such notice: $type" );
		$GLOBALS['stub_notices'][] = $text;
	}

	final class Stub_Logger {
		public function error( string $message, array $context ): void {
			stub_require( '' !== ( $context['source'] ?? '' ), 'a line of the log has a source' );
			Stub_State::change( function ( array &$state ) use ( $message ) { $state['log'][] = $message; } );
		}
	}

	function wc_get_logger(): Stub_Logger {
		return new Stub_Logger();
	}

	final class WooCommerce {
		public function api_request_url( string $name ): string {
			return home_url( "/wc-api/$name/" );
		}

		public function payment_gateways(): Stub_Gateways {
			return new Stub_Gateways();
		}
	}

	final class Stub_Gateways {
		public function payment_gateways(): array {
			$made = array_map( fn( string $class ) => new $class(), apply_filters( 'woocommerce_payment_gateways', array() ) );
			return array_combine( array_map( fn( $gateway ) => $gateway->id, $made ), $made );
		}
	}

	function WC(): WooCommerce {
		static $shop;
		return $shop ??= new WooCommerce();
	}

	final class WC_Admin_Settings {
		public static array $shown = array();

		public static function add_error( string $text ): void {
			self::$shown[] = $text;
		}
	}

	abstract class WC_Payment_Gateway {
		public string $id = '';
		public bool $has_fields = false;
		public string $title = '';
		public string $description = '';
		public string $method_title = '';
		public string $method_description = '';
		public array $supports = array( 'products' );
		public array $form_fields = array();
		public array $settings = array();
		public array $errors = array();
		/** What stands in the form that is saved. */
		public array $stub_posted = array();

		public function init_settings(): void {
			$defaults       = array_map( fn( array $field ) => $field['default'], $this->form_fields );
			$this->settings = get_option( 'woocommerce_' . $this->id . '_settings', array() ) + $defaults;
		}

		public function get_option( string $name ) {
			return $this->settings[ $name ];
		}

		public function update_option( string $name, $value ): bool {
			$this->settings[ $name ] = $value;
			return update_option( 'woocommerce_' . $this->id . '_settings', $this->settings );
		}

		public function process_admin_options() {
			$this->init_settings();
			foreach ( array_keys( $this->form_fields ) as $name ) {
				$typed = $this->stub_posted[ $name ] ?? $this->settings[ $name ];
				$check = array( $this, "validate_{$name}_field" );
				try {
					$this->settings[ $name ] = is_callable( $check ) ? $check( $name, $typed ) : $typed;
				} catch ( Exception $refused ) {
					$this->add_error( $refused->getMessage() );
				}
			}
			return update_option( 'woocommerce_' . $this->id . '_settings', $this->settings );
		}

		public function add_error( string $text ): void {
			$this->errors[] = $text;
		}

		public function get_errors(): array {
			return $this->errors;
		}

		public function is_available() {
			return 'yes' === $this->get_option( 'enabled' );
		}

		public function get_return_url( WC_Order $order ): string {
			return home_url( '/checkout/order-received/' . $order->get_id() . '/?key=' . $order->get_order_key() );
		}
	}
}
