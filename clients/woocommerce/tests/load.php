<?php
// Errors of any kind end a test: the plugin runs in somebody else's shop.

declare( strict_types = 1 );

error_reporting( E_ALL );
set_error_handler( fn( int $level, string $text, string $file, int $line ) => throw new ErrorException( $text, 0, $level, $file, $line ) );

require __DIR__ . '/stubs/state.php';
Stub_State::$folder = getenv( 'SHOP_FOLDER' );
require __DIR__ . '/stubs/wordpress.php';
require __DIR__ . '/stubs/woocommerce.php';
require getenv( 'PLUGIN_FOLDER' ) . '/tillgate.php';
add_action(
	'woocommerce_pre_payment_complete',
	function ( $order_id ) { // Another plugin, which fails at orders that a test names.
		$class = get_option( 'stub_faults', array() )[ $order_id ] ?? null;
		if ( null !== $class ) {
			throw new $class( 'another plugin' );
		}
	}
);
do_action( 'before_woocommerce_init' );
do_action( 'plugins_loaded' );
do_action( 'init' );
