<?php
/**
 * What a payment does to its order.
 *
 * @package Tillgate
 */

defined( 'ABSPATH' ) || exit;

/**
 * The status of an order changes by the payment that it follows, by one that is completed with what the order asks for,
 * and by nothing once another payment method or another payment has it. Everything else is a note for the merchant.
 */
final class Tillgate_Change {

	private const HELD   = '_tillgate_held_by'; // The payment that put the order on hold.
	private const REVIEW = '_tillgate_review'; // The payment whose money a person has to decide about.

	private const UNPAID = array( 'pending', 'on-hold', 'failed' );

	/**
	 * One payment of one order. The caller saves the order.
	 *
	 * @param WC_Order             $order   The order.
	 * @param array<string, mixed> $payment As the API has it.
	 */
	public function __construct( private readonly WC_Order $order, private readonly array $payment ) {}

	/**
	 * From the payment's status to the order's.
	 */
	public function apply_status(): void {
		match ( $this->payment['status'] ) {
			'processing'        => $this->wait(),
			'completed'         => $this->complete(),
			'expired', 'failed' => $this->fail(),
			'refunded'          => $this->refunded(),
			default             => null, // Pending: nothing has arrived.
		};
	}

	/**
	 * Coins that came too late, or to an address that is for another coin, are noted when they arrive and when they are accepted.
	 */
	public function note_strays(): void {
		foreach ( Tillgate_Payments::strays( $this->payment ) as $one ) {
			$is_accepted = ! empty( $one['accepted_at'] );
			$what        = array( $this->payment['id'], $one['tx_hash'], $one['deposit_address'], $one['asset_id'], $is_accepted ? 'accepted' : 'arrived' );
			if ( ! Tillgate_Orders::is_new( $this->order, implode( ' ', $what ) ) ) {
				continue;
			}
			if ( $is_accepted ) {
				/* translators: 1: amount in coins, 2: coin such as USDC, 3: reference of a payment */
				$text = __( 'You accepted %1$s %2$s for payment %3$s.', 'tillgate' );
			} elseif ( ! empty( $one['late'] ) ) {
				/* translators: 1: amount in coins, 2: coin such as USDC, 3: reference of a payment */
				$text = __( '%1$s %2$s arrived too late for payment %3$s. Accept or refund them in Tillgate.', 'tillgate' );
			} else {
				/* translators: 1: amount in coins, 2: coin such as USDC, 3: reference of a payment */
				$text = __( '%1$s %2$s arrived for payment %3$s at an address of another coin. Accept or return them in Tillgate.', 'tillgate' );
			}
			$this->note( sprintf( $text, Tillgate_Amounts::coins( $one['amount_atomic'], (int) $one['atomic_decimals'] ), $one['coin_symbol'], $this->reference() ) );
		}
	}

	/**
	 * What the merchant accepted after the payment had ended pays the order, if it is enough.
	 */
	public function apply_acceptance(): void {
		$cents    = Tillgate_Payments::accepted_cents( $this->payment );
		$is_ended = in_array( $this->payment['status'], array( 'expired', 'failed' ), true );
		if ( 0 === $cents || ! $is_ended || ! Tillgate_Orders::is_new( $this->order, $this->payment['id'] . ' accepted ' . $cents ) ) {
			return;
		}
		if ( $this->is_taken() ) {
			return;
		}
		if ( Tillgate_Payments::is_asked( $this->order, $this->payment ) && $cents >= Tillgate_Amounts::cents( $this->order->get_total() ) ) {
			$this->pay();
			return;
		}
		$this->review(
			sprintf(
				/* translators: 1: amount, 2: currency, 3: reference of a payment, 4: total of the order */
				__( 'Review: what you accepted for payment %3$s is worth %1$s %2$s, and the order asks for %4$s.', 'tillgate' ),
				$this->payment['accepted_late_amount'],
				$this->payment['settlement_currency'],
				$this->reference(),
				$this->total()
			)
		);
	}

	/**
	 * The network took back a transaction that had been confirmed. What isn't shipped yet is stopped.
	 */
	public function apply_loss(): void {
		$is_lost = 'completed' === $this->payment['status']
			&& Tillgate_Amounts::cents( $this->payment['amount_paid'] ) < Tillgate_Amounts::cents( $this->payment['settlement_amount'] );
		/* translators: %s: reference of a payment */
		$note = sprintf( __( 'The network took back a transaction of payment %s. See the payment in Tillgate.', 'tillgate' ), $this->reference() );
		if ( $is_lost && $this->has_paid() && Tillgate_Orders::is_tillgates( $this->order ) && $this->order->has_status( 'processing' ) ) {
			/* translators: %s: reference of a payment */
			$note = sprintf( __( 'The network took back the money of payment %s. Ship nothing until the payment in Tillgate shows it again.', 'tillgate' ), $this->reference() );
			$this->become( 'on-hold', $note );
			return;
		}
		$this->note( $note );
	}

	/**
	 * Stop asking for an order whose total was changed when money had come: a person decides. Noted once per total.
	 */
	public function ask_merchant(): void {
		$total = $this->total();
		if ( Tillgate_Orders::is_new( $this->order, $this->payment['id'] . ' asked ' . $total ) ) {
			$this->hold(
				sprintf(
					/* translators: 1: total of the order, 2: reference of a payment, 3: amount of the payment, 4: currency */
					__( 'Review: the order asks for %1$s, and payment %2$s of %3$s %4$s has money in it already. The customer isn\'t asked for a new payment. Settle the difference with them, or refund the payment in Tillgate.', 'tillgate' ),
					$total,
					$this->reference(),
					$this->payment['settlement_amount'],
					$this->payment['settlement_currency']
				)
			);
		}
	}

	/**
	 * Something has arrived. On hold keeps the stock and stops the shop from canceling the order.
	 */
	private function wait(): void {
		if ( $this->has_paid() ) {
			return;
		}
		if ( ! $this->is_followed() || ! $this->order->has_status( self::UNPAID ) ) {
			/* translators: %s: reference of a payment */
			$this->note( sprintf( __( 'Money arrived for payment %s, which this order doesn\'t wait for. See the payment in Tillgate.', 'tillgate' ), $this->reference() ) );
			return;
		}
		if ( 'processing_underpaid' !== $this->payment['state_reason'] ) {
			$this->hold( __( 'Payment received, awaiting confirmation.', 'tillgate' ) );
			return;
		}
		$this->hold(
			sprintf(
				/* translators: 1: amount received, 2: amount due, 3: currency */
				__( 'Partially paid: %1$s of %2$s %3$s. The customer can pay the rest on the same page.', 'tillgate' ),
				$this->payment['amount_paid'],
				$this->payment['settlement_amount'],
				$this->payment['settlement_currency']
			)
		);
	}

	/**
	 * Paid, if it is what the order asks for.
	 */
	private function complete(): void {
		if ( $this->is_taken() ) {
			return;
		}
		if ( ! Tillgate_Payments::is_asked( $this->order, $this->payment ) ) {
			$this->review(
				sprintf(
					/* translators: 1: amount, 2: currency, 3: reference of a payment */
					__( 'Review: %1$s %2$s were paid with %3$s, which isn\'t what the order asks for.', 'tillgate' ),
					$this->payment['settlement_amount'],
					$this->payment['settlement_currency'],
					$this->reference()
				)
			);
			return;
		}
		if ( 'completed_overpaid' === $this->payment['state_reason'] ) {
			$this->note( __( 'The customer sent more than was due. See the payment in Tillgate.', 'tillgate' ) );
		} elseif ( 'completed_underpaid' === $this->payment['state_reason'] ) {
			$this->note( __( 'The customer sent less than was due, which your settings accept.', 'tillgate' ) );
		}
		$this->pay();
	}

	/**
	 * Not paid in time, or not as the store's settings accept it. The customer can pay again, with a new payment.
	 */
	private function fail(): void {
		$notes   = array(
			'failed_underpaid' => __( 'Too little was paid in time. It is refunded to the customer.', 'tillgate' ),
			'failed_overpaid'  => __( 'Too much was paid. It is refunded to the customer.', 'tillgate' ),
		);
		$note    = $notes[ $this->payment['state_reason'] ?? '' ] ?? '';
		$expired = __( 'The payment expired.', 'tillgate' );
		if ( $this->may_fail() ) {
			$this->become( 'failed', '' === $note ? $expired : $note );
		} elseif ( '' !== $note || ( $this->is_followed() && $this->order->has_status( 'on-hold' ) ) ) {
			$this->note( $this->reference() . ': ' . ( '' === $note ? $expired : $note ) );
		}
	}

	/**
	 * Money went back, from here or from Tillgate's dashboard.
	 */
	private function refunded(): void {
		$is_full = 'full' === ( $this->payment['refund_state'] ?? '' );
		$is_ours = Tillgate_Orders::is_tillgates( $this->order );
		if ( $is_full && $is_ours && $this->has_paid() && $this->order->is_paid() ) {
			$this->become( 'refunded', __( 'The payment was refunded.', 'tillgate' ) );
			return;
		}
		if ( $is_full && $this->is_reviewed() ) {
			$this->order->delete_meta_data( self::REVIEW );
			if ( ! $this->is_followed() ) {
				$this->order->update_meta_data( self::HELD, Tillgate_Payments::current( $this->order ) ); // Which is waited for again.
			}
		}
		if ( $is_full && $this->may_fail() ) {
			$this->become( 'failed', __( 'What was paid was refunded to the customer.', 'tillgate' ) );
			return;
		}
		$text = $is_full
			? __( 'The payment was refunded.', 'tillgate' )
			: __( 'Part of the payment was refunded. The rest of it can\'t be refunded with Tillgate.', 'tillgate' );
		$this->note( $this->has_paid() ? $text : $this->reference() . ': ' . $text );
	}

	/**
	 * Whether the order is no longer to be paid with this payment. Who paid it nevertheless is noted.
	 */
	private function is_taken(): bool {
		if ( $this->has_paid() ) {
			return true;
		}
		if ( ! Tillgate_Orders::is_tillgates( $this->order ) ) {
			/* translators: %s: reference of a payment */
			$text = __( 'Payment %s was paid, but the order has another payment method. Refund it in Tillgate if the order is paid otherwise.', 'tillgate' );
		} elseif ( $this->order->is_paid() && '' === $this->order->get_transaction_id() ) {
			/* translators: %s: reference of a payment */
			$text = __( 'Payment %s was paid. The order was marked as paid before; if it was paid in another way, refund one of the payments.', 'tillgate' );
		} elseif ( $this->order->is_paid() || $this->order->has_status( 'refunded' ) ) {
			/* translators: %s: reference of a payment */
			$text = __( 'Paid a second time with %s. Refund one of the payments in Tillgate.', 'tillgate' );
		} else {
			return false;
		}
		$this->note( sprintf( $text, $this->reference() ) );
		return true;
	}

	/**
	 * The order is paid with this payment.
	 */
	private function pay(): void {
		$this->order->delete_meta_data( self::REVIEW );
		$this->order->delete_meta_data( self::HELD );
		$this->done( $this->order->payment_complete( $this->reference() ) );
	}

	/**
	 * What the shop couldn't do, as another plugin kept it from it, isn't applied: it is tried again.
	 *
	 * @param bool $is_done Whether the shop did it.
	 * @throws RuntimeException When it didn't.
	 */
	private function done( bool $is_done ): void {
		if ( ! $is_done ) {
			throw new RuntimeException( 'The shop could not change order ' . absint( $this->order->get_id() ) );
		}
	}

	/**
	 * Change the order's status.
	 *
	 * @param string $status The new one.
	 * @param string $note   For the merchant.
	 */
	private function become( string $status, string $note ): void {
		$this->done( $this->order->update_status( $status, $note ) );
	}

	/**
	 * Money that isn't what the order asks for: on hold, and not failed by another payment.
	 *
	 * @param string $note For the merchant.
	 */
	private function review( string $note ): void {
		if ( ! $this->order->has_status( self::UNPAID ) ) {
			$this->note( $note );
			return;
		}
		$this->order->update_meta_data( self::REVIEW, $this->payment['id'] );
		$this->hold( $note );
	}

	/**
	 * Put the order on hold. The shop drops the note of a status that doesn't change.
	 *
	 * @param string $note For the merchant.
	 */
	private function hold( string $note ): void {
		if ( $this->order->has_status( 'on-hold' ) ) {
			$this->note( $note );
			return;
		}
		$this->order->update_meta_data( self::HELD, $this->payment['id'] );
		$this->become( 'on-hold', $note );
	}

	/**
	 * Whether the end of this payment ends the order's wait: not when a person or another payment put it on hold.
	 */
	private function may_fail(): bool {
		$is_held     = $this->order->has_status( 'on-hold' ) && $this->payment['id'] === $this->order->get_meta( self::HELD );
		$is_reviewed = '' !== (string) $this->order->get_meta( self::REVIEW );
		return $this->is_followed() && ! $is_reviewed && ( $is_held || $this->order->has_status( 'pending' ) );
	}

	/**
	 * Whether a person has to decide about this payment's money.
	 */
	private function is_reviewed(): bool {
		return $this->payment['id'] === $this->order->get_meta( self::REVIEW );
	}

	/**
	 * Whether the order waits for this payment, and for no other payment method.
	 */
	private function is_followed(): bool {
		return Tillgate_Orders::is_tillgates( $this->order ) && $this->payment['id'] === Tillgate_Payments::current( $this->order );
	}

	/**
	 * Whether the order was completed with this payment.
	 */
	private function has_paid(): bool {
		return $this->reference() === $this->order->get_transaction_id();
	}

	/**
	 * The payment as people call it.
	 */
	private function reference(): string {
		return $this->payment['reference'];
	}

	/**
	 * The order's total, with its currency.
	 */
	private function total(): string {
		return Tillgate_Amounts::fiat( $this->order->get_total() ) . ' ' . $this->order->get_currency();
	}

	/**
	 * For the merchant, on the order's page.
	 *
	 * @param string $text The note.
	 */
	private function note( string $text ): void {
		$this->order->add_order_note( $text );
	}
}
