<?php
// The parts of WooCommerce that the plugin meets. An order forgets what isn't saved, and saves what was changed alone, as the
// real one does. Signatures are those of WooCommerce: python -m tests.clients.declarations compares them.

namespace Automattic\WooCommerce\Utilities {
	final class FeaturesUtil {
		public static array $declared = array();

		public static function declare_compatibility( string $feature_id, string $plugin_file, bool $positive_compatibility = true ): bool {
			self::$declared[ $feature_id ] = $positive_compatibility;
			return true;
		}
	}
}

namespace Automattic\WooCommerce\Blocks\Payments\Integrations {
	abstract class AbstractPaymentMethodType {
		protected $name     = '';
		protected $settings = array();

		abstract public function initialize();

		public function get_name() {
			return $this->name;
		}

		protected function get_setting( $name, $default = '' ) {
			return $this->settings[ $name ] ?? $default;
		}
	}
}

namespace {
	const STUB_STATUSES = array( 'pending', 'processing', 'on-hold', 'completed', 'cancelled', 'refunded', 'failed' );

	class WC_Order {
		private array $row;
		private array $as_read;

		public function __construct( $order = 0 ) {
			$row = Stub_State::read( 'orders' )[ (int) $order ] ?? null;
			stub_require( null !== $row, "no such order: $order" );
			$this->row     = $row;
			$this->as_read = $row;
		}

		public static function stub_create( string $total, string $currency = 'EUR', string $method = 'tillgate' ): self {
			$id = Stub_State::change(
				function ( array &$state ) use ( $total, $currency, $method ): int {
					$id = $state['next']++;
					$state['orders'][ $id ] = array(
						'id' => $id, 'key' => 'wc_order_' . bin2hex( random_bytes( 7 ) ), 'total' => $total, 'currency' => $currency,
						'status' => 'pending', 'transaction' => '', 'method' => $method, 'created' => time(),
						'meta' => array(), 'notes' => array(), 'refunds' => array(),
					);
					return $id;
				}
			);
			return wc_get_order( $id );
		}

		/** The order as somebody else changes it: status, method, transaction, meta. */
		public function stub_become( array $changed ): self {
			$this->row = $changed + $this->row;
			$this->save();
			return wc_get_order( $this->row['id'] );
		}

		public function save() {
			$changed = fn( array $now, array $before ) => array_udiff_assoc( $now, $before, fn( $one, $other ) => $one === $other ? 0 : 1 );
			$meta    = $changed( $this->row['meta'], $this->as_read['meta'] );
			$gone    = array_diff_key( $this->as_read['meta'], $this->row['meta'] );
			$fields  = $changed( array( 'meta' => 0 ) + $this->row, array( 'meta' => 0 ) + $this->as_read );
			Stub_State::change(
				function ( array &$state ) use ( $meta, $gone, $fields ) {
					$kept = $state['orders'][ $this->row['id'] ];
					$state['orders'][ $this->row['id'] ] = array( 'meta' => $meta + array_diff_key( $kept['meta'], $gone ) ) + $fields + $kept;
				}
			);
			$this->as_read = $this->row;
			return $this->row['id'];
		}

		public function get_id() {
			return $this->row['id'];
		}

		public function get_order_key( $context = 'view' ) {
			return $this->row['key'];
		}

		public function get_order_number() {
			return (string) ( 1000 + $this->row['id'] );
		}

		public function get_total( $context = 'view' ) {
			return $this->row['total'];
		}

		public function set_total( $value, $deprecated = '' ) {
			$this->row['total'] = wc_format_decimal( $value, 2 );
		}

		public function get_currency( $context = 'view' ) {
			return $this->row['currency'];
		}

		public function get_status( $context = 'view' ) {
			return $this->row['status'];
		}

		public function get_transaction_id( $context = 'view' ) {
			return $this->row['transaction'];
		}

		public function get_payment_method( $context = 'view' ) {
			return $this->row['method'];
		}

		public function set_payment_method( $payment_method = '' ) {
			$known = WC()->payment_gateways()->payment_gateways();
			stub_require( '' === $payment_method || isset( $known[ $payment_method ] ) || 'bacs' === $payment_method, "no such method: $payment_method" );
			$this->row['method'] = $payment_method;
		}

		public function has_status( $status ) {
			foreach ( (array) $status as $one ) {
				stub_require( in_array( $one, STUB_STATUSES, true ), "no such status: $one" );
			}
			return in_array( $this->row['status'], (array) $status, true );
		}

		public function is_paid() {
			return $this->has_status( array( 'processing', 'completed' ) );
		}

		public function get_meta( $key = '', $single = true, $context = 'view' ) {
			stub_require( '' !== $key && $single, 'one value of one key' );
			return $this->row['meta'][ $key ] ?? '';
		}

		public function update_meta_data( $key, $value, $meta_id = 0 ) {
			stub_require( null !== $value && ! is_object( $value ), "not to be kept: $key" );
			$this->row['meta'][ $key ] = $value;
		}

		public function delete_meta_data( $key ) {
			unset( $this->row['meta'][ $key ] );
		}

		public function add_order_note( $note, $is_customer_note = 0, $added_by_user = false ) {
			stub_require( '' !== $note, 'a note says something' );
			return Stub_State::change( fn( array &$state ): int => count( $state['orders'][ $this->row['id'] ]['notes'][] = array( $note ) ) );
		}

		/** The note belongs to the change: it is lost when there is none. */
		public function update_status( $new_status, $note = '', $manual = false ) {
			stub_require( in_array( $new_status, STUB_STATUSES, true ), "no such status: $new_status" );
			$is_changed = $new_status !== $this->row['status'];
			$this->row['status'] = $new_status;
			$this->save();
			if ( '' !== $note && $is_changed ) {
				$this->add_order_note( $note );
			}
			return true;
		}

		/** An order that is paid or refunded stays as it is, without a word. An exception of a plugin ends in false, an error goes on. */
		public function payment_complete( $transaction_id = '' ) {
			try {
				do_action( 'woocommerce_pre_payment_complete', $this->row['id'], $transaction_id );
			} catch ( Exception $fault ) {
				$this->add_order_note( 'Payment complete event failed. ' . $fault->getMessage() );
				return false;
			}
			if ( $this->has_status( array( 'pending', 'on-hold', 'failed', 'cancelled' ) ) ) {
				$this->row['transaction'] = $transaction_id;
				$this->row['status']      = 'processing';
				$this->save();
			}
			return true;
		}

		public function get_checkout_payment_url( $on_checkout = false ) {
			return home_url( '/checkout/order-pay/' . $this->row['id'] . '/?pay_for_order=true&key=' . $this->row['key'] );
		}

		public function get_total_refunded() {
			return (float) array_sum( Stub_State::read( 'orders' )[ $this->row['id'] ]['refunds'] );
		}

		public function stub_notes(): array {
			return array_column( Stub_State::read( 'orders' )[ $this->row['id'] ]['notes'], 0 );
		}
	}

	function wc_get_order( $the_order = false ) {
		return isset( Stub_State::read( 'orders' )[ (int) $the_order ] ) ? new WC_Order( (int) $the_order ) : false;
	}

	/** Newest first; with the arguments that the plugin has, and no other. */
	function wc_get_orders( $args ) {
		stub_require( array() === array_diff( array_keys( $args ), array( 'payment_method', 'status', 'date_created', 'limit', 'paged', 'orderby', 'order' ) ), 'an argument that is not known' );
		stub_require( array( 'date', 'DESC' ) === array( $args['orderby'], $args['order'] ) && 1 === preg_match( '/^>\d+$/', $args['date_created'] ), 'another order' );
		$since = (int) substr( $args['date_created'], 1 );
		$is    = fn( array $row ) => $row['method'] === $args['payment_method'] && in_array( $row['status'], $args['status'], true ) && $row['created'] > $since;
		$ids   = array_reverse( array_keys( array_filter( Stub_State::read( 'orders' ), $is ) ) );
		return array_map( 'wc_get_order', array_slice( $ids, ( $args['paged'] - 1 ) * $args['limit'], $args['limit'] ) );
	}

	/** As the shop does it: the refund is there before the gateway is asked, and is deleted when it refuses. */
	function wc_create_refund( $args = array() ) {
		$asked  = $args;
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

	function wc_format_decimal( $number, $dp = false, $trim_zeros = false ) {
		stub_require( is_int( $dp ) && ! $trim_zeros, 'a number of decimals' );
		return number_format( (float) $number, $dp, '.', '' );
	}

	function get_woocommerce_currency() {
		return get_option( 'woocommerce_currency', 'EUR' );
	}

	$stub_notices = array();
	function wc_add_notice( $message, $notice_type = 'success', $data = array() ) {
		stub_require( in_array( $notice_type, array( 'success', 'error', 'notice' ), true ), "no such notice: $notice_type" );
		$GLOBALS['stub_notices'][] = $message;
	}

	final class Stub_Logger {
		public function error( string $message, array $context = array() ): void {
			stub_require( '' !== ( $context['source'] ?? '' ), 'a line of the log has a source' );
			Stub_State::change( function ( array &$state ) use ( $message ) { $state['log'][] = $message; } );
		}
	}

	function wc_get_logger() {
		return new Stub_Logger();
	}

	final class WooCommerce {
		public function api_request_url( $request, $ssl = null ) {
			return home_url( "/wc-api/$request/" );
		}

		public function payment_gateways() {
			return new WC_Payment_Gateways();
		}
	}

	final class WC_Payment_Gateways {
		public function payment_gateways() {
			$made = array_map( fn( string $class ) => new $class(), apply_filters( 'woocommerce_payment_gateways', array() ) );
			return array_combine( array_map( fn( $gateway ) => $gateway->id, $made ), $made );
		}
	}

	function WC() {
		static $shop;
		return $shop ??= new WooCommerce();
	}

	final class WC_Admin_Settings {
		public static array $shown = array();

		public static function add_error( $text ) {
			self::$shown[] = $text;
		}
	}

	abstract class WC_Payment_Gateway {
		public $id;
		public $has_fields;
		public $title;
		public $description;
		public $method_title       = '';
		public $method_description = '';
		public $supports           = array( 'products' );
		public $form_fields        = array();
		public $settings           = array();
		public $errors             = array();
		/** What stands in the form that is saved. */
		public array $stub_posted = array();

		public function init_settings() {
			$defaults       = array_map( fn( array $field ) => $field['default'], $this->form_fields );
			$this->settings = get_option( 'woocommerce_' . $this->id . '_settings', array() ) + $defaults;
		}

		public function get_option( $key, $empty_value = null ) {
			return $this->settings[ $key ];
		}

		public function update_option( $key, $value = '' ) {
			$this->settings[ $key ] = $value;
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

		public function add_error( $error ) {
			$this->errors[] = $error;
		}

		public function get_errors() {
			return $this->errors;
		}

		public function is_available() {
			return 'yes' === $this->get_option( 'enabled' );
		}

		public function get_return_url( $order = null ) {
			return home_url( '/checkout/order-received/' . $order->get_id() . '/?key=' . $order->get_order_key() );
		}
	}
}
