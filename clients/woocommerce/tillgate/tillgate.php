<?php
/**
 * Plugin Name: Tillgate for WooCommerce
 * Description: Take crypto payments with Tillgate: customers pay on the hosted checkout, orders follow by signed webhook.
 * Version: 0.1.0
 * Requires at least: 6.5
 * Requires PHP: 8.1
 * Requires Plugins: woocommerce
 * WC requires at least: 8.3
 * WC tested up to: 9.4
 * Text Domain: tillgate
 * Domain Path: /languages
 *
 * @package Tillgate
 */

defined( 'ABSPATH' ) || exit;

define( 'TILLGATE_VERSION', '0.1.0' );
define( 'TILLGATE_FILE', __FILE__ );

/**
 * The two features that a payment method has to declare: orders in tables of their own, and the checkout block.
 */
function tillgate_declare_features(): void {
	if ( class_exists( '\Automattic\WooCommerce\Utilities\FeaturesUtil' ) ) {
		\Automattic\WooCommerce\Utilities\FeaturesUtil::declare_compatibility( 'custom_order_tables', TILLGATE_FILE, true );
		\Automattic\WooCommerce\Utilities\FeaturesUtil::declare_compatibility( 'cart_checkout_blocks', TILLGATE_FILE, true );
	}
}
add_action( 'before_woocommerce_init', 'tillgate_declare_features' );

/**
 * Everything else needs WooCommerce.
 */
function tillgate_load(): void {
	if ( ! class_exists( 'WC_Payment_Gateway' ) ) {
		return;
	}
	require_once __DIR__ . '/includes/class-tillgate-error.php';
	require_once __DIR__ . '/includes/class-tillgate-api.php';
	require_once __DIR__ . '/includes/class-tillgate-amounts.php';
	require_once __DIR__ . '/includes/class-tillgate-payments.php';
	require_once __DIR__ . '/includes/class-tillgate-change.php';
	require_once __DIR__ . '/includes/class-tillgate-orders.php';
	require_once __DIR__ . '/includes/class-tillgate-webhook.php';
	require_once __DIR__ . '/includes/class-tillgate-gateway.php';
	require_once __DIR__ . '/includes/class-tillgate-catch-up.php';

	add_filter( 'woocommerce_payment_gateways', 'tillgate_add_gateway' );
	add_action( 'woocommerce_api_tillgate', array( 'Tillgate_Webhook', 'answer' ) );
	add_action( 'woocommerce_thankyou_tillgate', array( 'Tillgate_Orders', 'refresh' ) );
	add_action( 'woocommerce_blocks_payment_method_type_registration', 'tillgate_add_to_blocks' );
	add_filter( 'cron_schedules', array( 'Tillgate_Catch_Up', 'add_interval' ) );
	add_action( 'init', array( 'Tillgate_Catch_Up', 'schedule' ) );
	add_action( Tillgate_Catch_Up::HOOK, array( 'Tillgate_Catch_Up', 'run' ) );
}
add_action( 'plugins_loaded', 'tillgate_load' );

/**
 * Translations.
 */
function tillgate_load_texts(): void {
	load_plugin_textdomain( 'tillgate', false, dirname( plugin_basename( TILLGATE_FILE ) ) . '/languages' );
}
add_action( 'init', 'tillgate_load_texts' );

/**
 * Turned off, it looks after no order.
 */
function tillgate_deactivate(): void {
	wp_clear_scheduled_hook( 'tillgate_catch_up' );
}
register_deactivation_hook( TILLGATE_FILE, 'tillgate_deactivate' );

/**
 * Offer the gateway in the settings and at the checkout.
 *
 * @param array<int, string> $gateways Their class names.
 * @return array<int, string>
 */
function tillgate_add_gateway( array $gateways ): array {
	$gateways[] = 'Tillgate_Gateway';
	return $gateways;
}

/**
 * Offer it in the checkout block, too.
 *
 * @param \Automattic\WooCommerce\Blocks\Payments\PaymentMethodRegistry $registry Of the block.
 */
function tillgate_add_to_blocks( $registry ): void {
	require_once __DIR__ . '/includes/class-tillgate-blocks.php';
	$registry->register( new Tillgate_Blocks() );
}
