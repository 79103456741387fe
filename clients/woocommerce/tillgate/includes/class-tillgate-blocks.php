<?php
/**
 * The payment method in the checkout block.
 *
 * @package Tillgate
 */

defined( 'ABSPATH' ) || exit;

use Automattic\WooCommerce\Blocks\Payments\Integrations\AbstractPaymentMethodType;

/**
 * What the block needs of the gateway.
 */
final class Tillgate_Blocks extends AbstractPaymentMethodType {

	/**
	 * As the gateway is called.
	 *
	 * @var string
	 */
	protected $name = Tillgate_Gateway::ID;

	/**
	 * Read the settings.
	 */
	public function initialize(): void {
		$this->settings = get_option( 'woocommerce_' . $this->name . '_settings', array() );
	}

	/**
	 * Offered when the gateway is.
	 */
	public function is_active(): bool {
		$gateways = WC()->payment_gateways()->payment_gateways();
		return isset( $gateways[ $this->name ] ) && $gateways[ $this->name ]->is_available();
	}

	/**
	 * The script that registers it.
	 *
	 * @return array<int, string>
	 */
	public function get_payment_method_script_handles(): array {
		$needs = array( 'wc-blocks-registry', 'wc-settings', 'wp-element', 'wp-html-entities' );
		wp_register_script( 'tillgate-blocks', plugins_url( 'assets/blocks.js', TILLGATE_FILE ), $needs, TILLGATE_VERSION, true );
		return array( 'tillgate-blocks' );
	}

	/**
	 * What the script is given.
	 *
	 * @return array<string, mixed>
	 */
	public function get_payment_method_data(): array {
		return array(
			'title'       => $this->get_setting( 'title' ),
			'description' => $this->get_setting( 'description' ),
			'supports'    => array( 'products', 'refunds' ),
		);
	}
}
