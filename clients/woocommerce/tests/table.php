<?php
// Whatever a payment becomes, on an order in whatever state. Columns are the states of an order; a cell is the state that
// it has afterwards, "note" where it only gets a note, or "-" where nothing happens.

const OTHER_REFERENCE = 'K2J9OTHER000';

const STRAY = array(
	'tx_hash' => '0xab', 'deposit_address' => '0x01', 'asset_id' => 'USDC_SETH', 'coin_symbol' => 'USDC', 'amount_atomic' => '10500000',
	'atomic_decimals' => 6, 'status' => 'confirmed', 'late' => true, 'unexpected_asset' => false, 'accepted_at' => null, 'undecided' => true,
);

/** What a payment can say: the fields of its document that say it. */
const SAYINGS = array(
	'processing'  => array( 'status' => 'processing', 'state_reason' => 'processing_unconfirmed', 'amount_paid' => '0.00' ),
	'underpaid'   => array( 'status' => 'processing', 'state_reason' => 'processing_underpaid', 'amount_paid' => '5.00' ),
	'completed'   => array( 'status' => 'completed', 'state_reason' => 'completed_exact', 'amount_paid' => '10.00' ),
	'other total' => array( 'status' => 'completed', 'state_reason' => 'completed_exact', 'amount_paid' => '9.00', 'settlement_amount' => '9.00' ),
	'expired'     => array( 'status' => 'expired', 'state_reason' => 'expired_timeout' ),
	'failed'      => array( 'status' => 'failed', 'state_reason' => 'failed_underpaid' ),
	'refunded'    => array( 'status' => 'refunded', 'state_reason' => null, 'refund_state' => 'full' ),
	'in part'     => array( 'status' => 'refunded', 'state_reason' => null, 'refund_state' => 'partial' ),
	'late'        => array( 'status' => 'expired', 'transactions' => array( STRAY ) ),
	'other coin'  => array( 'status' => 'pending', 'transactions' => array( array( 'late' => false, 'unexpected_asset' => true ) + STRAY ) ),
	'accepted'    => array( 'status' => 'expired', 'accepted_late_amount' => '10.00' ),
	'less'        => array( 'status' => 'expired', 'accepted_late_amount' => '9.99' ),
	'lost'        => array( 'status' => 'completed', 'amount_paid' => '0.00' ),
);
/** The columns of each group of rows, what an order of the group is like, and its rows. */
const TABLE = array(
	'followed'            => array(
		'pending on-hold failed cancelled processing completed refunded',
		array(),
		array(
			'processing'  => 'on-hold note on-hold note note note note',
			'underpaid'   => 'on-hold note on-hold note note note note',
			'completed'   => 'processing processing processing processing note note note',
			'other total' => 'on-hold note on-hold note note note note',
			'expired'     => 'failed note - - - - -',
			'failed'      => 'failed note note note note note note',
			'refunded'    => 'failed note note note note note note',
			'in part'     => 'note note note note note note note',
			'late'        => 'note note note note note note note',
			'other coin'  => 'note note note note note note note',
			'accepted'    => 'processing processing processing processing note note note',
			'less'        => 'on-hold note on-hold note note note note',
			'lost'        => 'note note note note note note note',
		),
	),
	'another method'      => array(
		'pending on-hold failed cancelled processing completed refunded',
		array( 'method' => 'bacs' ),
		array(
			'processing'  => 'note note note note note note note',
			'underpaid'   => 'note note note note note note note',
			'completed'   => 'note note note note note note note',
			'other total' => 'note note note note note note note',
			'expired'     => '- - - - - - -',
			'failed'      => 'note note note note note note note',
			'refunded'    => 'note note note note note note note',
			'in part'     => 'note note note note note note note',
			'late'        => 'note note note note note note note',
			'other coin'  => 'note note note note note note note',
			'accepted'    => 'note note note note note note note',
			'less'        => 'note note note note note note note',
			'lost'        => 'note note note note note note note',
		),
	),
	'another payment'     => array(
		'pending on-hold failed cancelled processing completed refunded',
		array( 'meta' => array( Tillgate_Payments::CURRENT => 'another' ) ),
		array(
			'processing'  => 'note note note note note note note',
			'underpaid'   => 'note note note note note note note',
			'completed'   => 'processing processing processing processing note note note',
			'other total' => 'on-hold note on-hold note note note note',
			'expired'     => '- - - - - - -',
			'failed'      => 'note note note note note note note',
			'refunded'    => 'note note note note note note note',
			'in part'     => 'note note note note note note note',
			'late'        => 'note note note note note note note',
			'other coin'  => 'note note note note note note note',
			'accepted'    => 'processing processing processing processing note note note',
			'less'        => 'on-hold note on-hold note note note note',
			'lost'        => 'note note note note note note note',
		),
	),
	'paid with another'   => array(
		'processing completed refunded',
		array( 'transaction' => OTHER_REFERENCE ),
		array(
			'processing'  => 'note note note',
			'underpaid'   => 'note note note',
			'completed'   => 'note note note',
			'other total' => 'note note note',
			'expired'     => '- - -',
			'failed'      => 'note note note',
			'refunded'    => 'note note note',
			'in part'     => 'note note note',
			'late'        => 'note note note',
			'other coin'  => 'note note note',
			'accepted'    => 'note note note',
			'less'        => 'note note note',
			'lost'        => 'note note note',
		),
	),
	'paid with it'        => array(
		'processing completed refunded',
		array( 'transaction' => 'its own' ),
		array(
			'processing'  => '- - -',
			'underpaid'   => '- - -',
			'completed'   => '- - -',
			'other total' => '- - -',
			'refunded'    => 'refunded refunded note',
			'in part'     => 'note note note',
			'late'        => 'note note note',
			'other coin'  => 'note note note',
			'accepted'    => '- - -',
			'lost'        => 'on-hold note note',
		),
	),
	'on hold by it'       => array(
		'on-hold',
		array( 'meta' => array( '_tillgate_held_by' => 'its own' ) ),
		array(
			'processing'  => 'note',
			'underpaid'   => 'note',
			'completed'   => 'processing',
			'other total' => 'note',
			'expired'     => 'failed',
			'failed'      => 'failed',
			'refunded'    => 'failed',
			'in part'     => 'note',
			'accepted'    => 'processing',
			'lost'        => 'note',
		),
	),
	'another is reviewed' => array(
		'on-hold',
		array( 'meta' => array( '_tillgate_held_by' => 'its own', '_tillgate_review' => 'another' ) ),
		array(
			'processing' => 'note',
			'completed'  => 'processing',
			'expired'    => 'note',
			'failed'     => 'note',
			'refunded'   => 'note',
		),
	),
);

$tests['every payment on every order does what the table says'] = function () {
	$payment = tillgate( 'GET', '/payments/' . payment_of( placed() ) );
	$order   = WC_Order::stub_create( '10.00' );
	$wrong   = array();
	foreach ( TABLE as $group => list( $columns, $like, $rows ) ) {
		foreach ( $rows as $saying => $cells ) {
			$found = array_map( fn( string $status ) => cell( $order, $payment, $saying, $status, $like ), explode( ' ', $columns ) );
			if ( implode( ' ', $found ) !== $cells ) {
				$wrong[] = "$group, $saying:\n  expected $cells\n  found    " . implode( ' ', $found );
			}
		}
	}
	is( array(), $wrong, implode( "\n", $wrong ) );
};

/** What becomes of an order in this state when its payment says this. */
function cell( WC_Order $order, array $payment, string $saying, string $status, array $like ): string {
	$own   = fn( string $of ) => fn( $value ) => 'its own' === $value ? $payment[ $of ] : $value;
	$meta  = array_map( $own( 'id' ), ( $like['meta'] ?? array() ) + array( Tillgate_Payments::CURRENT => 'its own' ) );
	$order = wc_get_order( $order->get_id() )->stub_become(
		array(
			'status'      => $status,
			'method'      => $like['method'] ?? 'tillgate',
			'transaction' => $own( 'reference' )( $like['transaction'] ?? '' ),
			'meta'        => $meta,
		)
	);
	$payment = SAYINGS[ $saying ] + $payment;
	$payment['metadata']['wc_order_id'] = (string) $order->get_id();

	$notes  = count( $order->stub_notes() );
	$change = new Tillgate_Change( $order, $payment );
	$change->note_strays();
	if ( 'lost' === $saying ) {
		$change->apply_loss();
	} elseif ( ! in_array( $saying, array( 'accepted', 'less', 'late' ), true ) ) {
		$change->apply_status();
	}
	$change->apply_acceptance();
	$order->save();
	$after = wc_get_order( $order->get_id() );
	is( array( $order->get_total(), $order->get_payment_method() ), array( $after->get_total(), $after->get_payment_method() ) );
	if ( $status !== $after->get_status() ) {
		return $after->get_status();
	}
	return count( $after->stub_notes() ) === $notes ? '-' : 'note';
}
