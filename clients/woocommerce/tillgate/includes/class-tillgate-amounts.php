<?php
/**
 * Amounts as text. Money is never a float here: a coin has up to 18 decimals.
 *
 * @package Tillgate
 */

defined( 'ABSPATH' ) || exit;

/**
 * Conversions between the shop's amounts and those of the API.
 */
final class Tillgate_Amounts {

	/**
	 * As the API takes it: two decimals and a point.
	 *
	 * @param string|float|int $amount Of the shop.
	 */
	public static function fiat( $amount ): string {
		return wc_format_decimal( $amount, 2 );
	}

	/**
	 * Hundredths of the major unit.
	 *
	 * @param string|float|int $amount Of the shop.
	 */
	public static function cents( $amount ): int {
		return (int) str_replace( '.', '', self::fiat( $amount ) );
	}

	/**
	 * A share of an atomic amount as a decimal in coins, rounded down.
	 *
	 * @param string $atomic   Digits.
	 * @param int    $decimals Of the coin.
	 * @param int    $part     Cents of the share.
	 * @param int    $whole    Cents of everything.
	 */
	public static function share( string $atomic, int $decimals, int $part, int $whole ): string {
		$share  = self::divide( self::multiply( $atomic, $part ), $whole );
		$padded = str_pad( $share, $decimals + 1, '0', STR_PAD_LEFT );
		if ( 0 === $decimals ) {
			return $padded;
		}
		return substr( $padded, 0, -$decimals ) . '.' . substr( $padded, -$decimals );
	}

	/**
	 * An atomic amount as a decimal in coins, without zeros at its end.
	 *
	 * @param string $atomic   Digits.
	 * @param int    $decimals Of the coin.
	 */
	public static function coins( string $atomic, int $decimals ): string {
		$coins = self::share( $atomic, $decimals, 1, 1 );
		return str_contains( $coins, '.' ) ? rtrim( rtrim( $coins, '0' ), '.' ) : $coins;
	}

	/**
	 * Written multiplication: an atomic amount doesn't fit into an integer.
	 *
	 * @param string $digits A number.
	 * @param int    $factor Below 2^53.
	 */
	private static function multiply( string $digits, int $factor ): string {
		$carry  = 0;
		$result = '';
		for ( $place = strlen( $digits ) - 1; $place >= 0; $place-- ) {
			$carry += (int) $digits[ $place ] * $factor;
			$result = ( $carry % 10 ) . $result;
			$carry  = intdiv( $carry, 10 );
		}
		return ltrim( $carry . $result, '0' ) ?: '0';
	}

	/**
	 * Written division, rounded down.
	 *
	 * @param string $digits  A number.
	 * @param int    $divisor Below 2^53.
	 */
	private static function divide( string $digits, int $divisor ): string {
		$rest   = 0;
		$result = '';
		foreach ( str_split( $digits ) as $digit ) {
			$rest    = $rest * 10 + (int) $digit;
			$result .= intdiv( $rest, $divisor );
			$rest   %= $divisor;
		}
		return ltrim( $result, '0' ) ?: '0';
	}
}
