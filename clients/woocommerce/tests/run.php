<?php
// Every test of the plugin, against a running Tillgate and a shop that hears its webhooks: php tests/run.php [name]

require __DIR__ . '/load.php';

const TO = '0x52908400098527886E0F7030069857D2E4169EE7';

/** The API of the running Tillgate, for what a customer or a merchant does there. */
function tillgate( string $method, string $path, ?array $body = null, array $headers = array() ): array {
	$request = array(
		'method'      => $method,
		'headers'     => $headers + array( 'Authorization' => 'Bearer ' . getenv( 'TILLGATE_KEY' ), 'Content-Type' => 'application/json' ),
		'timeout'     => 30,
		'redirection' => 0,
		'user-agent'  => 'tests',
	);
	$answer = wp_remote_request( getenv( 'TILLGATE_URL' ) . '/api/v2' . $path, null === $body ? $request : $request + array( 'body' => json_encode( $body ) ) );
	is( true, ! is_wp_error( $answer ) && $answer['status'] < 300, "$method $path: " . ( $answer['body'] ?? '' ) );
	return json_decode( $answer['body'], true ) ?? array();
}

/** Move the clock, once it has come to rest. */
function advance( int $seconds ): void {
	$request = array(
		'method'      => 'POST',
		'headers'     => array( 'Authorization' => 'Bearer ' . getenv( 'TILLGATE_KEY' ), 'Content-Type' => 'application/json' ),
		'body'        => json_encode( array( 'seconds' => $seconds ) ),
		'timeout'     => 30,
		'redirection' => 0,
		'user-agent'  => 'tests',
	);
	$answer  = until(
		function () use ( $request ) {
			$answer = wp_remote_request( getenv( 'TILLGATE_URL' ) . '/api/v2/test_clock/advance', $request );
			return ! is_wp_error( $answer ) && str_contains( $answer['body'], 'test_clock_advancing' ) ? null : $answer;
		},
		'the clock rests'
	);
	is( true, is_array( $answer ) && $answer['status'] < 300, 'the clock is moved' );
}

function is( $expected, $found, string $of = '' ): void {
	if ( $expected !== $found ) {
		throw new RuntimeException( "$of\nexpected " . var_export( $expected, true ) . "\nfound    " . var_export( $found, true ) );
	}
}

function until( callable $read, string $what, int $seconds = 60 ) {
	for ( $deadline = time() + $seconds; time() < $deadline; usleep( 200000 ) ) {
		$found = $read();
		if ( $found ) {
			return $found;
		}
	}
	throw new RuntimeException( "still not so after $seconds s: $what" );
}

function gateway(): Tillgate_Gateway {
	return new Tillgate_Gateway();
}

function settings( array $changed = array() ): Tillgate_Gateway {
	$gateway              = gateway();
	$gateway->stub_posted = $changed + array( 'enabled' => 'yes', 'address' => getenv( 'TILLGATE_URL' ), 'mode' => 'test', 'test_key' => getenv( 'TILLGATE_KEY' ) );
	$gateway->process_admin_options();
	return $gateway;
}

/** An order whose customer was sent to pay. */
function placed( string $total = '10.00', string $currency = 'EUR' ): WC_Order {
	$order  = WC_Order::stub_create( $total, $currency );
	$result = gateway()->process_payment( $order->get_id() );
	is( 'success', $result['result'], 'process_payment' );
	return wc_get_order( $order->get_id() );
}

function payment_of( WC_Order $order ): string {
	return wc_get_order( $order->get_id() )->get_meta( Tillgate_Payments::CURRENT );
}

function pay( WC_Order $order, array $how = array( 'scenario' => 'exact' ) ): array {
	return tillgate( 'POST', '/payments/' . payment_of( $order ) . '/simulated_payments', $how );
}

function becomes( WC_Order $order, string $status ): WC_Order {
	$id = $order->get_id();
	until( fn() => wc_get_order( $id )->has_status( $status ), "order $id is $status, but " . wc_get_order( $id )->get_status() );
	return wc_get_order( $id );
}

function has_note( WC_Order $order, string $words ): bool {
	return array() !== array_filter( $order->stub_notes(), fn( string $note ) => str_contains( $note, $words ) );
}

/** The shop's answer to a delivery: its status. */
function deliver( string $body, string $header ): int {
	$request = array( 'method' => 'POST', 'headers' => array( 'Service-Signature' => $header ), 'body' => $body, 'timeout' => 30, 'redirection' => 0, 'user-agent' => 'tests' );
	$answer  = wp_remote_request( Tillgate_Gateway::webhook_url(), $request );
	is( false, is_wp_error( $answer ) );
	return $answer['status'];
}

/** As Tillgate delivers: again, as long as the shop says so. */
function delivered( string $body ): int {
	return until(
		function () use ( $body ) {
			$status = deliver( $body, signed( $body ) );
			return 503 === $status ? null : $status;
		},
		'it is taken'
	);
}

function signed( string $body, ?string $secret = null, int $age = 0 ): string {
	$time = time() - $age;
	return "t=$time,v1=" . hash_hmac( 'sha256', "$time.$body", $secret ?? Tillgate_Gateway::setting( 'test_webhook_secret' ) );
}

function event( WC_Order $order, array $changed = array() ): string {
	$object = array( 'payment_intent_id' => payment_of( $order ), 'metadata' => array( 'wc_order_id' => (string) $order->get_id() ) );
	$event  = array( 'id' => bin2hex( random_bytes( 16 ) ), 'type' => 'payment_intent.completed', 'livemode' => false, 'data' => array( 'object' => $object ) );
	return json_encode( $changed + $event );
}

$tests = array();

$tests['it says what it is compatible with'] = function () {
	is( array( 'custom_order_tables' => true, 'cart_checkout_blocks' => true ), Automattic\WooCommerce\Utilities\FeaturesUtil::$declared );
	is( array( 'tillgate' ), array_keys( WC()->payment_gateways()->payment_gateways() ) );
};

$tests['it is not offered until it can hear of payments'] = function () {
	update_option( 'woocommerce_tillgate_settings', array( 'enabled' => 'yes', 'address' => getenv( 'TILLGATE_URL' ), 'test_key' => getenv( 'TILLGATE_KEY' ) ) );
	is( false, gateway()->is_available() );
	is( array(), settings()->errors );
	is( 1, preg_match( '/^whsec_[0-9a-f]{64}$/', Tillgate_Gateway::setting( 'test_webhook_secret' ) ) );
	is( true, gateway()->is_available() );
	update_option( 'woocommerce_currency', 'BRL' );
	is( false, gateway()->is_available(), 'another currency' );
	delete_option( 'woocommerce_currency' );
};

$tests['saving again keeps the secret'] = function () {
	$secret = Tillgate_Gateway::setting( 'test_webhook_secret' );
	settings( array( 'title' => 'Coins' ) );
	is( $secret, Tillgate_Gateway::setting( 'test_webhook_secret' ) );
};

$tests['keys and addresses that cannot work are refused'] = function () {
	$before = get_option( 'woocommerce_tillgate_settings' );
	foreach ( array( array( 'test_key' => 'svc_sk_live_abc' ), array( 'live_key' => 'svc_pk_live_abc' ), array( 'test_key' => 'svc_sk_test_"x' ), array( 'address' => 'ftp://pay.example' ) ) as $wrong ) {
		WC_Admin_Settings::$shown = array();
		is( settings( $wrong )->errors, WC_Admin_Settings::$shown );
		is( 1, count( WC_Admin_Settings::$shown ), key( $wrong ) );
		is( $before, get_option( 'woocommerce_tillgate_settings' ) );
	}
	is( 'https://pay.example', gateway()->validate_address_field( 'address', ' https://pay.example/ ' ) );
};

$tests['a webhook that cannot be registered is said so'] = function () {
	$before = get_option( 'woocommerce_tillgate_settings' );
	$wrong  = settings( array( 'test_webhook_secret' => '', 'test_key' => 'svc_sk_test_nobody' ) )->errors;
	is( 1, preg_match( '/^The webhook could not be registered: .+/', $wrong[0] ) );
	is( false, gateway()->is_available() );
	update_option( 'woocommerce_tillgate_settings', $before );
};

$tests['a payment is made once per order, however often it is asked for'] = function () {
	$order  = placed( '12.5' );
	$first  = payment_of( $order );
	$made   = tillgate( 'GET', "/payments/$first" );
	is( $made['hosted_url'], gateway()->process_payment( $order->get_id() )['redirect'] );
	is( $first, payment_of( $order ) );
	is( array( '12.50', 'EUR', (string) $order->get_order_number() ), array( $made['settlement_amount'], $made['settlement_currency'], $made['order_id'] ) );
	is( 'Order ' . $order->get_order_number() . ' at Bread & Butter', $made['title'] );
	is( $order->get_checkout_payment_url(), $made['failed_url'] );
	$again = wc_get_order( $order->get_id() ); // As if the answer had been lost before it was saved.
	$again->update_meta_data( Tillgate_Payments::CURRENT, '' );
	$again->save();
	gateway()->process_payment( $order->get_id() );
	is( $first, payment_of( $order ) );
};

$tests['a payment lasts no longer than the stock is held'] = function () {
	foreach ( array( 30 => 1800, 1 => 300, 9999 => 86400 ) as $minutes => $seconds ) {
		update_option( 'woocommerce_hold_stock_minutes', (string) $minutes );
		$made = tillgate( 'GET', '/payments/' . payment_of( placed() ) );
		is( $seconds, strtotime( $made['expires_at'] ) - strtotime( $made['created_at'] ) );
	}
	delete_option( 'woocommerce_hold_stock_minutes' );
};

$tests['a paid order is processing'] = function () {
	$order = placed();
	$paid  = pay( $order );
	$order = becomes( $order, 'processing' );
	is( $paid['reference'], $order->get_transaction_id() );
	is( gateway()->get_return_url( $order ), gateway()->process_payment( $order->get_id() )['redirect'] );
};

$tests['a delivery that comes again does nothing'] = function () {
	$order = placed();
	pay( $order );
	$order = becomes( $order, 'processing' );
	$body  = event( $order );
	$other = event( $order );
	is( 200, delivered( $body ) ); // What was told of the payment may still be at work on the order.
	$before = wc_get_order( $order->get_id() );
	is( 200, delivered( $body ) );
	gateway()->update_option( 'address', 'http://127.0.0.1:9' );
	is( array( 200, 503 ), array( deliver( $body, signed( $body ) ), deliver( $other, signed( $other ) ) ), 'nothing is asked' );
	gateway()->update_option( 'address', getenv( 'TILLGATE_URL' ) );
	is( $before->stub_notes(), wc_get_order( $order->get_id() )->stub_notes() );
	is( 'processing', wc_get_order( $order->get_id() )->get_status() );
};

$tests['what is not genuine is refused'] = function () {
	$order = placed();
	pay( $order, array( 'scenario' => 'unconfirmed' ) );
	$order = becomes( $order, 'on-hold' );
	$body  = event( $order );
	$wrong = array(
		'none'      => '',
		'nonsense'  => 't=,v1=',
		'forged'    => 't=' . time() . ',v1=' . str_repeat( '0', 64 ),
		'secret'    => signed( $body, 'whsec_' . str_repeat( 'a', 64 ) ),
		'no secret' => signed( $body, '' ),
		'body'      => signed( $body . ' ' ),
		'old'       => signed( $body, null, 301 ),
		'early'     => signed( $body, null, -305 ),
		'time'      => preg_replace( '/t=\d+/', 't=' . ( time() - 5 ), signed( $body ) ),
	);
	foreach ( $wrong as $name => $header ) {
		is( 400, deliver( $body, $header ), $name );
	}
	is( true, Tillgate_Webhook::is_genuine( signed( $body ) . ',v1=' . str_repeat( '0', 64 ), $body, Tillgate_Gateway::setting( 'test_webhook_secret' ) ) );
	is( 'on-hold', wc_get_order( $order->get_id() )->get_status() );
};

$tests['what is genuine and about nothing of this shop is ignored'] = function () {
	$order  = placed();
	$other  = placed();
	$of     = array( 'payment_intent_id' => payment_of( $other ), 'metadata' => array( 'wc_order_id' => (string) $order->get_id() ) );
	$bodies = array( event( $order, array( 'livemode' => true ) ), event( $order, array( 'type' => 'invoice.paid' ) ), event( $order, array( 'data' => array( 'object' => $of ) ) ), event( $order, array( 'data' => 1 ) ), '[]', 'no json', '"text"' );
	pay( $other, array( 'scenario' => 'unconfirmed' ) );
	becomes( $other, 'on-hold' );
	foreach ( $bodies as $body ) {
		is( 200, deliver( $body, signed( $body ) ), $body );
	}
	is( 'pending', wc_get_order( $order->get_id() )->get_status() );
};

$tests['an event alone completes nothing: the payment is read'] = function () {
	$order = placed();
	$body  = event( $order );
	is( 200, deliver( $body, signed( $body ) ) );
	is( 'pending', wc_get_order( $order->get_id() )->get_status() );
};

$tests['part of the money puts the order on hold, the rest completes it'] = function () {
	$order = placed();
	pay( $order, array( 'scenario' => 'underpaid', 'reference' => 'first' ) );
	$order = becomes( $order, 'on-hold' );
	is( true, has_note( $order, 'Partially paid: 5.00 of 10.00 EUR' ), implode( '; ', $order->stub_notes() ) );
	is( tillgate( 'GET', '/payments/' . payment_of( $order ) )['hosted_url'], gateway()->process_payment( $order->get_id() )['redirect'] );
	pay( $order, array( 'scenario' => 'exact', 'reference' => 'second' ) );
	becomes( $order, 'processing' );
};

$tests['an expired payment fails the order, and the next attempt pays it'] = function () {
	$order = placed();
	$first = payment_of( $order );
	advance( 3700 );
	$order = becomes( $order, 'failed' );
	is( true, has_note( $order, 'The payment expired.' ) );
	gateway()->process_payment( $order->get_id() );
	is( false, payment_of( $order ) === $first );
	pay( $order );
	becomes( $order, 'processing' );
};

$tests['an older payment of the order that is paid counts, and its end does not'] = function () {
	$order = placed();
	$old   = payment_of( $order );
	$order->set_total( '11.00' );
	$order->save();
	gateway()->process_payment( $order->get_id() );
	is( false, payment_of( $order ) === $old );
	tillgate( 'POST', "/payments/$old/simulated_payments", array( 'scenario' => 'exact' ) );
	$order = becomes( $order, 'on-hold' );
	is( true, has_note( $order, "which isn't what the order asks for" ) );
	pay( $order );
	becomes( $order, 'processing' );
};

$tests['an order that was changed after its payment is reviewed by a person'] = function () {
	$order = placed();
	$order->set_total( '99.00' );
	$order->save();
	pay( $order );
	is( true, has_note( becomes( $order, 'on-hold' ), 'Review: 10.00 EUR were paid' ) );
};

$tests['a second payment of a paid order is told of'] = function () {
	$order = placed();
	$again = tillgate( 'POST', '/payments', array( 'payment_intent' => array( 'amount' => '10.00', 'currency' => 'EUR', 'metadata' => array( 'wc_order_id' => (string) $order->get_id() ) ) ) );
	$order->update_meta_data( Tillgate_Payments::ALL, array( $again['id'], payment_of( $order ) ) );
	$order->save();
	pay( $order );
	$order = becomes( $order, 'processing' );
	tillgate( 'POST', "/payments/{$again['id']}/simulated_payments", array( 'scenario' => 'exact' ) );
	until( fn() => has_note( wc_get_order( $order->get_id() ), 'Paid a second time with ' . $again['reference'] ), 'a note' );
	is( 'processing', wc_get_order( $order->get_id() )->get_status() );
	is( payment_of( $order ), ( new ReflectionMethod( 'Tillgate_Gateway', 'paid_with' ) )->invoke( gateway(), $order ) );
};

$tests['the customer who is back before the webhook sees a paid order'] = function () {
	$order  = placed();
	$secret = Tillgate_Gateway::setting( 'test_webhook_secret' );
	gateway()->update_option( 'test_webhook_secret', 'whsec_' . str_repeat( 'b', 64 ) ); // Deliveries fail.
	pay( $order );
	do_action( 'woocommerce_thankyou_tillgate', $order->get_id() );
	gateway()->update_option( 'test_webhook_secret', $secret );
	is( 'processing', wc_get_order( $order->get_id() )->get_status() );
};

$tests['part of a payment is refunded in coins, at the rate that was paid'] = function () {
	$order = placed();
	pay( $order );
	$order = becomes( $order, 'processing' );
	is( true, wc_create_refund( array( 'order_id' => $order->get_id(), 'amount' => '4.00', 'gateway' => gateway() ) ) );
	$refund = tillgate( 'GET', '/payments/' . payment_of( $order ) . '/refunds' )[0];
	$paid   = tillgate( 'GET', '/payments/' . payment_of( $order ) )['financials']['assets'][0];
	is( (int) floor( (int) $paid['gross_atomic'] * 2 / 5 ), (int) $refund['amount_atomic'] );
	is( true, has_note( $order, 'Refund ' . $refund['id'] . ' was submitted.' ) );
	$other = wc_create_refund( array( 'order_id' => $order->get_id(), 'amount' => '3.00', 'gateway' => gateway() ) );
	is( true, is_wp_error( $other ), 'a second one' );
	is( 4.0, $order->get_total_refunded() );
	advance( 120 );
	until( fn() => has_note( wc_get_order( $order->get_id() ), 'Part of the payment was refunded.' ), 'a note' );
	is( 'processing', wc_get_order( $order->get_id() )->get_status() );
};

$tests['all of a payment is refunded, and the order with it'] = function () {
	$order = placed();
	pay( $order );
	$order = becomes( $order, 'processing' );
	is( true, wc_create_refund( array( 'order_id' => $order->get_id(), 'amount' => '10.00', 'gateway' => gateway() ) ) );
	is( 'refunded', wc_get_order( $order->get_id() )->get_status() );
	advance( 120 );
	until( fn() => has_note( wc_get_order( $order->get_id() ), 'The payment was refunded.' ), 'a note' );
};

$tests['a refund in the dashboard refunds the order'] = function () {
	$order = placed();
	pay( $order );
	becomes( $order, 'processing' );
	tillgate( 'POST', '/payments/' . payment_of( $order ) . '/refunds', array( 'refund' => array( 'destination_address' => TO ) ), array( 'Idempotency-Key' => payment_of( $order ) ) );
	advance( 120 );
	becomes( $order, 'refunded' );
};

$tests['what cannot be refunded is said so'] = function () {
	$order = placed();
	$never = gateway()->process_refund( $order->get_id(), '10.00' );
	is( 'Payment is not refundable', $never->get_error_message() );
	is( true, is_wp_error( gateway()->process_refund( WC_Order::stub_create( '1.00' )->get_id(), '1.00' ) ) );
	foreach ( array( '0', '-1', '10.01' ) as $amount ) {
		is( 'Enter an amount up to the total of the order.', gateway()->process_refund( $order->get_id(), $amount )->get_error_message() );
	}
};

$tests['shares of amounts are exact beyond the integers'] = function () {
	is( '0.333333333333333333', Tillgate_Amounts::share( '1000000000000000000', 18, 1, 3 ) );
	is( '123456789012.345678901234567890', Tillgate_Amounts::share( '370370367037037036703703703670', 18, 1, 3 ) );
	is( '0.000001', Tillgate_Amounts::share( '3', 6, 1, 3 ) );
	is( '0.000000', Tillgate_Amounts::share( '2', 6, 1, 3 ) );
	is( '7', Tillgate_Amounts::share( '7', 0, 5, 5 ) );
	is( array( '10.00', 1000, '0.10', 10 ), array( Tillgate_Amounts::fiat( 10 ), Tillgate_Amounts::cents( '10' ), Tillgate_Amounts::fiat( 0.1 ), Tillgate_Amounts::cents( 0.1 ) ) );
};

$tests['a server that is away costs no order'] = function () {
	$order = placed();
	$body  = event( $order );
	gateway()->update_option( 'address', 'http://127.0.0.1:9' );
	is( array( 'result' => 'failure' ), gateway()->process_payment( WC_Order::stub_create( '5.00' )->get_id() ) );
	is( 1, count( $GLOBALS['stub_notices'] ) );
	is( 503, deliver( $body, signed( $body ) ), 'told to come again' );
	do_action( 'woocommerce_thankyou_tillgate', $order->get_id() );
	is( true, is_wp_error( gateway()->process_refund( $order->get_id(), '1.00' ) ) );
	gateway()->update_option( 'address', getenv( 'TILLGATE_URL' ) );
	is( 200, deliver( $body, signed( $body ) ), 'the same event, later' );
	is( 'pending', wc_get_order( $order->get_id() )->get_status() );
};

$tests['two deliveries for one order take turns'] = function () {
	$order = placed();
	$body  = event( $order );
	$lock  = 'tillgate_lock_' . $order->get_id();
	update_option( $lock, time() );
	is( 503, deliver( $body, signed( $body ) ) );
	update_option( $lock, time() - 61 );
	is( 200, deliver( $body, signed( $body ) ), 'who held it has died' );
	is( false, get_option( $lock ) );
};

$tests['a webhook is POSTed'] = function () {
	$request = array( 'method' => 'GET', 'headers' => array(), 'timeout' => 30, 'redirection' => 0, 'user-agent' => 'tests' );
	is( 405, wp_remote_request( Tillgate_Gateway::webhook_url(), $request )['status'] );
};

$tests['the checkout block is told what it needs'] = function () {
	$registry = new class() {
		public array $registered = array();

		public function register( $type ): void {
			$this->registered[] = $type;
		}
	};
	do_action( 'woocommerce_blocks_payment_method_type_registration', $registry );
	list( $block ) = $registry->registered;
	$block->initialize();
	is( array( 'tillgate', true, array( 'tillgate-blocks' ) ), array( $block->get_name(), $block->is_active(), $block->get_payment_method_script_handles() ) );
	is( gateway()->title, $block->get_payment_method_data()['title'] );
};

require __DIR__ . '/following.php';
require __DIR__ . '/table.php';

$tests['it leaves no key behind'] = function () {
	define( 'WP_UNINSTALL_PLUGIN', 'tillgate/tillgate.php' );
	update_option( 'tillgate_lock_7', 1 );
	require getenv( 'PLUGIN_FOLDER' ) . '/uninstall.php';
	is( array(), array_filter( array_keys( Stub_State::read( 'options' ) ), fn( string $name ) => str_contains( $name, 'tillgate' ) ) );
	is( false, wp_next_scheduled( Tillgate_Catch_Up::HOOK ) );
};

$failed = 0;
foreach ( $tests as $name => $test ) {
	if ( isset( $argv[1] ) && ! str_contains( $name, $argv[1] ) ) {
		continue;
	}
	try {
		if ( isset( $argv[1] ) ) {
			settings();
		}
		$test();
		echo "ok   $name\n";
	} catch ( Throwable $error ) {
		++$failed;
		echo "FAIL $name: ", get_class( $error ), ' ', $error->getMessage(), ' at ', basename( $error->getFile() ), ':', $error->getLine(), "\n";
	}
}
echo count( $tests ), " tests, $failed failed\n";
exit( $failed > 0 ? 1 : 0 );
