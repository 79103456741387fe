<?php
// The shop, for `php -S`: WordPress with the plugin, as far as a delivery meets it.

require __DIR__ . '/load.php';

if ( '/wc-api/tillgate/' === parse_url( $_SERVER['REQUEST_URI'], PHP_URL_PATH ) ) {
	do_action( 'woocommerce_api_tillgate' );
	throw new Stub_Refused( 'the request was not ended' );
}
http_response_code( 404 );
