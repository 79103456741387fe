<?php
// Which payments an order follows, and what it does with money that isn't what it asked for.

/** A person at Tillgate's dashboard or at one of its pages: the cookies, and a form that is sent. */
final class Person {
	private array $cookies = array();

	public function get( string $path ): string {
		return $this->ask( $path )[1];
	}

	/** Where the answer leads to, of a form at this path or on another page. */
	public function send( string $path, array $fields, ?string $at = null ): string {
		$page = $this->get( $at ?? $path );
		is( 1, preg_match( '/name="csrfmiddlewaretoken" value="([^"]+)"/', $page, $found ), "a form for $path" );
		return $this->ask( $path, http_build_query( $fields + array( 'csrfmiddlewaretoken' => $found[1] ) ) )[0];
	}

	/** A button that needs no sign-in. */
	public function press( string $path ): string {
		return $this->ask( $path, '' )[0];
	}

	private function ask( string $path, ?string $body = null ): array {
		$lines = array( 'Cookie: ' . http_build_query( $this->cookies, '', '; ' ), 'Origin: ' . getenv( 'TILLGATE_URL' ) );
		$led   = '';
		$read  = function ( $curl, string $line ) use ( &$led ): int {
			if ( 1 === preg_match( '/^Set-Cookie:\s*([^=]+)=([^;]*)/i', $line, $cookie ) ) {
				$this->cookies[ $cookie[1] ] = $cookie[2];
			} elseif ( 1 === preg_match( '/^Location:\s*(\S+)/i', $line, $location ) ) {
				$led = $location[1];
			}
			return strlen( $line );
		};
		$curl  = curl_init( getenv( 'TILLGATE_URL' ) . $path );
		curl_setopt_array( $curl, array( CURLOPT_HTTPHEADER => $lines, CURLOPT_RETURNTRANSFER => true, CURLOPT_HEADERFUNCTION => $read, CURLOPT_NOPROXY => '*', CURLOPT_TIMEOUT => 30 ) );
		if ( null !== $body ) {
			curl_setopt( $curl, CURLOPT_POSTFIELDS, $body );
		}
		$page = (string) curl_exec( $curl );
		is( true, curl_getinfo( $curl, CURLINFO_RESPONSE_CODE ) < 400, "$path: " . substr( strip_tags( $page ), 0, 2000 ) );
		return array( $led, $page );
	}
}

/** As an authenticator app shows it (RFC 6238). */
function authenticator_code( string $key ): string {
	$bits   = implode( '', array_map( fn( string $letter ) => sprintf( '%05b', strpos( 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567', $letter ) ), str_split( $key ) ) );
	$secret = implode( '', array_map( fn( string $byte ) => chr( bindec( $byte ) ), str_split( substr( $bits, 0, intdiv( strlen( $bits ), 8 ) * 8 ), 8 ) ) );
	$hash   = hash_hmac( 'sha1', pack( 'J', intdiv( time(), 30 ) ), $secret, true );
	$number = unpack( 'N', substr( $hash, ord( $hash[19] ) & 15, 4 ) )[1] & 0x7fffffff;
	return sprintf( '%06d', $number % 1000000 );
}

function merchant(): Person {
	static $person;
	if ( null === $person ) {
		$person = new Person();
		$code   = $person->send( '/dashboard/sign-in', array( 'email' => getenv( 'TILLGATE_EMAIL' ), 'password' => getenv( 'TILLGATE_PASSWORD' ) ) );
		$person->send( $code, array( 'code' => authenticator_code( getenv( 'TILLGATE_TOTP' ) ) ) );
		is( 1, preg_match( '#/dashboard/#', $person->get( '/dashboard/' ) ), 'signed in' );
		$person->send( '/dashboard/mode', array( 'mode' => 'test' ), '/dashboard/' ); // a shop that was paid live opens in live mode
	}
	return $person;
}

/** The payment that a customer gets by a press on the page of one that has expired. */
function new_quote( string $payment_id ): string {
	until( fn() => 'expired' === tillgate( 'GET', "/payments/$payment_id" )['status'], "$payment_id expires", 180 );
	$reference = tillgate( 'GET', "/payments/$payment_id" )['reference'];
	( new Person() )->press( "/pay/$reference/quote" );
	return (string) tillgate( 'GET', "/payments/$payment_id" )['renewed_as'];
}

function simulate( string $payment_id, array $how = array( 'scenario' => 'exact' ) ): array {
	return tillgate( 'POST', "/payments/$payment_id/simulated_payments", $how );
}

/** A payment that somebody makes by the API. */
function made_elsewhere( WC_Order $order, array $changed = array() ): array {
	$metadata = array( 'wc_order_id' => (string) $order->get_id(), 'shop' => home_url() );
	$fields   = $changed + array( 'amount' => $order->get_total(), 'currency' => 'EUR', 'metadata' => $metadata );
	return tillgate( 'POST', '/payments', array( 'payment_intent' => $fields ) );
}

/** What the shop does while no delivery reaches it. */
function deaf( callable $act ): void {
	$secret = Tillgate_Gateway::setting( 'test_webhook_secret' );
	gateway()->update_option( 'test_webhook_secret', 'whsec_' . str_repeat( 'b', 64 ) );
	try {
		$act();
	} finally {
		gateway()->update_option( 'test_webhook_secret', $secret );
	}
}

function noted( WC_Order $order, string $words ): void {
	$id = $order->get_id();
	until( fn() => has_note( wc_get_order( $id ), $words ), "a note “{$words}”, but only: " . implode( ' | ', wc_get_order( $id )->stub_notes() ), 30 );
}

/** All events of a payment so far are applied: the order has what a new look would give it. */
function settled( WC_Order $order ): WC_Order {
	foreach ( Tillgate_Payments::ids( wc_get_order( $order->get_id() ) ) as $id ) {
		until( fn() => 'busy' !== Tillgate_Orders::follow( $order->get_id(), $id, 'test' ), 'a look' );
	}
	return wc_get_order( $order->get_id() );
}

/** Orders whose payments ran out together: a jump of the clock takes seconds. */
function late_orders(): array {
	static $orders;
	if ( null !== $orders ) {
		return array_map( fn( int $id ) => wc_get_order( $id ), $orders );
	}
	foreach ( array( 'quote', 'quick', 'unheard', 'bank', 'bank half', 'bank paid', 'held', 'changed', 'reviewed', 'late', 'less' ) as $name ) {
		$orders[ $name ] = placed( '20.00' )->get_id();
	}
	$made = array_map( fn( int $id ) => wc_get_order( $id ), $orders );
	foreach ( array( 'bank half', 'changed' ) as $name ) {
		pay( $made[ $name ], array( 'scenario' => 'underpaid' ) );
		becomes( $made[ $name ], 'on-hold' );
	}
	foreach ( array( 'bank', 'bank half', 'bank paid' ) as $name ) {
		wc_get_order( $orders[ $name ] )->stub_become( array( 'method' => 'bacs', 'status' => 'on-hold' ) );
	}
	pay( $made['bank paid'] );
	$made['held']->update_status( 'on-hold', 'Please wait.' );

	wc_get_order( $orders['changed'] )->stub_become( array( 'total' => '18.00' ) );
	$page = tillgate( 'GET', '/payments/' . payment_of( $made['changed'] ) )['hosted_url'];
	foreach ( array( 1, 2 ) as $press ) {
		is( $page, gateway()->process_payment( $orders['changed'] )['redirect'], "press $press" );
	}
	$old = payment_of( $made['reviewed'] );
	wc_get_order( $orders['reviewed'] )->stub_become( array( 'total' => '24.00' ) );
	gateway()->process_payment( $orders['reviewed'] );
	simulate( $old );
	becomes( $made['reviewed'], 'on-hold' );
	advance( 3700 );
	foreach ( array( 'quote', 'quick', 'changed', 'late', 'less' ) as $name ) {
		becomes( $made[ $name ], 'failed' );
	}
	advance( 120 );
	return late_orders();
}

$tests['a new quote that the customer asked for on the page is followed'] = function () {
	$order  = late_orders()['quote'];
	$second = new_quote( payment_of( $order ) );
	$led_to = gateway()->process_payment( $order->get_id() )['redirect'];
	is( tillgate( 'GET', "/payments/$second" )['hosted_url'], $led_to, 'the shop leads to it as well' );
	$paid  = simulate( $second );
	$order = becomes( $order, 'processing' );
	is( array( $paid['reference'], $second ), array( $order->get_transaction_id(), payment_of( $order ) ) );
	is( gateway()->get_return_url( $order ), gateway()->process_payment( $order->get_id() )['redirect'], 'nothing is asked for again' );
	is( $second, ( new ReflectionMethod( 'Tillgate_Gateway', 'paid_with' ) )->invoke( gateway(), $order ), 'what a refund is of' );
};

$tests['a new quote that was paid before the shop heard of it completes the order'] = function () {
	$order  = late_orders()['quick'];
	$first  = payment_of( $order );
	$second = new_quote( $first );
	simulate( $second );
	becomes( $order, 'processing' );
	is( array( $first, $second ), Tillgate_Payments::ids( wc_get_order( $order->get_id() ) ) );
};

$tests['the thank-you page finds the new quote of a new quote'] = function () {
	$order = late_orders()['unheard'];
	deaf(
		function () use ( $order ) {
			$second = new_quote( payment_of( $order ) );
			advance( 3700 );
			$third = new_quote( $second );
			simulate( $third );
			do_action( 'woocommerce_thankyou_tillgate', $order->get_id() );
			is( array( 'processing', $third ), array( wc_get_order( $order->get_id() )->get_status(), payment_of( $order ) ) );
		}
	);
};

$tests['a payment that the merchant made for the order is followed'] = function () {
	$order = placed();
	$other = made_elsewhere( $order );
	simulate( $other['id'], array( 'scenario' => 'unconfirmed' ) );
	$order = becomes( $order, 'on-hold' );
	is( $other['id'], payment_of( $order ) );
	is( $other['hosted_url'], gateway()->process_payment( $order->get_id() )['redirect'] );

	$without = WC_Order::stub_create( '10.00', 'EUR', '' ); // Nobody has chosen a method.
	$made    = made_elsewhere( $without );
	simulate( $made['id'] );
	$without = becomes( $without, 'processing' );
	is( array( 'tillgate', $made['reference'] ), array( $without->get_payment_method(), $without->get_transaction_id() ) );
};

$tests['a payment of another shop, order, amount or currency is not followed'] = function () {
	$order = placed();
	$id    = (string) $order->get_id();
	$own   = payment_of( $order );
	foreach ( array( array( 'wc_order_id' => $id ), array( 'wc_order_id' => $id, 'shop' => 'https://another.example' ), array( 'wc_order_id' => "$id ", 'shop' => home_url() ), array( 'wc_order_id' => "9$id", 'shop' => home_url() ) ) as $metadata ) {
		$other = made_elsewhere( $order, array( 'metadata' => $metadata ) );
		simulate( $other['id'] );
		$event = array( 'payment_intent_id' => $other['id'], 'metadata' => array( 'wc_order_id' => $id, 'shop' => home_url() ) );
		$body  = event( $order, array( 'data' => array( 'object' => $event ) ) );
		is( 200, delivered( $body ) );
		is( array( 'pending', $own ), array( wc_get_order( $order->get_id() )->get_status(), payment_of( $order ) ), json_encode( $metadata ) );
	}
	is( array( $own ), Tillgate_Payments::ids( wc_get_order( $order->get_id() ) ) );
	foreach ( array( array( 'amount' => '9.00' ), array( 'currency' => 'USD' ) ) as $different ) {
		$other = made_elsewhere( $order, $different );
		simulate( $other['id'] );
		noted( $order, "were paid with {$other['reference']}, which isn't what the order asks for" );
		is( array( 'on-hold', $own ), array( wc_get_order( $order->get_id() )->get_status(), payment_of( $order ) ) );
	}
	pay( $order );
	becomes( $order, 'processing' );
};

$tests['an order that is paid in another way is left alone'] = function () {
	$orders = late_orders();
	noted( $orders['bank half'], 'Too little was paid in time' );
	noted( $orders['bank half'], 'The payment was refunded.' );
	noted( $orders['bank paid'], 'the order has another payment method' );
	foreach ( array( 'bank', 'bank half', 'bank paid' ) as $name ) {
		$order = settled( $orders[ $name ] );
		is( array( 'on-hold', 'bacs', '' ), array( $order->get_status(), $order->get_payment_method(), $order->get_transaction_id() ), $name );
	}
	is( false, has_note( wc_get_order( $orders['bank']->get_id() ), 'expired' ) );
};

$tests['an order that the merchant put on hold stays so when its payment expires'] = function () {
	$order = late_orders()['held'];
	noted( $order, 'The payment expired.' );
	is( 'on-hold', settled( $order )->get_status() );
};

$tests['a total that is changed when money has come is for the merchant'] = function () {
	$order = settled( late_orders()['changed'] );
	$old   = Tillgate_Payments::ids( $order );
	is( 1, count( $old ) );
	is( 1, count( preg_grep( '/the order asks for 18.00 EUR, and payment .* of 20.00 EUR has money in it already/', $order->stub_notes() ) ) );
	noted( $order, 'Too little was paid in time' );
	noted( $order, 'The payment was refunded.' );
	gateway()->process_payment( $order->get_id() );
	is( '18.00', tillgate( 'GET', '/payments/' . payment_of( $order ) )['settlement_amount'], 'the money went back: the new total is asked for' );
};

$tests['an order that was paid with its former total asks the customer for nothing'] = function () {
	$order = placed( '10.00' );
	$order->set_total( '12.00' );
	$order->save();
	pay( $order );
	$order = becomes( $order, 'on-hold' );
	$page  = tillgate( 'GET', '/payments/' . payment_of( $order ) )['hosted_url'];
	is( $page, gateway()->process_payment( $order->get_id() )['redirect'] );
	is( 1, count( Tillgate_Payments::ids( wc_get_order( $order->get_id() ) ) ) );
};

$tests['what is reviewed is not failed by another payment of the order'] = function () {
	$order = late_orders()['reviewed'];
	is( 'expired', tillgate( 'GET', '/payments/' . payment_of( $order ) )['status'] );
	is( 'on-hold', settled( $order )->get_status() );
};

$tests['late money is noted, and completes the order once it is accepted'] = function () {
	$order   = late_orders()['late'];
	$payment = payment_of( $order );
	simulate( $payment, array( 'scenario' => 'exact', 'late' => true ) );
	noted( $order, 'arrived too late for payment' );
	$page = tillgate( 'GET', "/payments/$payment" );
	is( $page['hosted_url'], gateway()->process_payment( $order->get_id() )['redirect'], 'the customer is not asked for it again' );
	is( array( $payment ), Tillgate_Payments::ids( wc_get_order( $order->get_id() ) ) );
	merchant()->send( "/dashboard/payments/$payment/late-deposits/{$page['late_deposits'][0]['id']}", array() );
	$order = becomes( $order, 'processing' );
	is( $page['reference'], $order->get_transaction_id() );
	is( 1, count( preg_grep( '/arrived too late/', settled( $order )->stub_notes() ) ) );
};

$tests['late money that is less than the order asks for is reviewed when it is accepted'] = function () {
	$order   = late_orders()['less'];
	$payment = payment_of( $order );
	simulate( $payment, array( 'scenario' => 'underpaid', 'late' => true ) );
	$late = until( fn() => tillgate( 'GET', "/payments/$payment" )['late_deposits'], 'it is late' );
	merchant()->send( "/dashboard/payments/$payment/late-deposits/{$late[0]['id']}", array() );
	noted( $order, 'and the order asks for 20.00 EUR' );
	is( 'on-hold', wc_get_order( $order->get_id() )->get_status() );
};

$tests['without deliveries the shop catches up by itself'] = function () {
	$paid    = placed();
	$expired = placed();
	is( true, false !== wp_next_scheduled( Tillgate_Catch_Up::HOOK ) );
	deaf(
		function () use ( $paid, $expired ) {
			pay( $paid );
			do_action( Tillgate_Catch_Up::HOOK );
			is( 'processing', wc_get_order( $paid->get_id() )->get_status() );
			advance( 3700 );
			$again = new_quote( payment_of( $expired ) );
			simulate( $again );
			caught_up( $expired, 'processing' );
			tillgate( 'POST', '/payments/' . payment_of( $paid ) . '/refunds', array( 'refund' => array( 'destination_address' => TO ) ), array( 'Idempotency-Key' => payment_of( $paid ) ) );
			advance( 120 );
			until( fn() => 'refunded' === tillgate( 'GET', '/payments/' . payment_of( $paid ) )['status'], 'it is refunded' );
			caught_up( $paid, 'refunded' );
		}
	);
};

/** The job comes to every order, page by page, in as many runs as there are pages at most. */
function caught_up( WC_Order $order, string $status ): void {
	for ( $run = 0; $run < 20 && ! wc_get_order( $order->get_id() )->has_status( $status ); $run++ ) {
		do_action( Tillgate_Catch_Up::HOOK );
	}
	is( $status, wc_get_order( $order->get_id() )->get_status() );
}

$tests['an order at which another plugin fails costs no delivery of others, and is caught up'] = function () {
	foreach ( array( 'TypeError', 'RuntimeException' ) as $class ) {
		$order = placed();
		update_option( 'stub_faults', array( $order->get_id() => $class ) );
		pay( $order );
		$body = event( $order );
		is( 200, delivered( $body ), "$class: the delivery isn't repeated" );
		is( 'pending', wc_get_order( $order->get_id() )->get_status() );
		update_option( Tillgate_Catch_Up::PLACES, array() );
		do_action( Tillgate_Catch_Up::HOOK );
		is( 'pending', wc_get_order( $order->get_id() )->get_status(), 'still failing' );
		delete_option( 'stub_faults' );
		caught_up( $order, 'processing' );
	}
};

$tests['a server that is away is asked again by the next run'] = function () {
	$pages = array( 'open' => 1, 'paid' => 1 );
	placed();
	update_option( Tillgate_Catch_Up::PLACES, $pages );
	gateway()->update_option( 'address', 'http://127.0.0.1:9' );
	do_action( Tillgate_Catch_Up::HOOK );
	gateway()->update_option( 'address', getenv( 'TILLGATE_URL' ) );
	is( $pages, get_option( Tillgate_Catch_Up::PLACES ) );
};

$tests['turned off, it looks after no order'] = function () {
	do_action( 'deactivate_tillgate/tillgate.php' );
	is( false, wp_next_scheduled( Tillgate_Catch_Up::HOOK ) );
	do_action( 'init' );
	is( true, false !== wp_next_scheduled( Tillgate_Catch_Up::HOOK ) );
};
