<?php
/**
 * What kept a call of the API from succeeding.
 *
 * @package Tillgate
 */

defined( 'ABSPATH' ) || exit;

/**
 * The message is for the merchant, never for the customer. A status of 0 means that there was no answer.
 */
final class Tillgate_Error extends Exception {

	/**
	 * One failure.
	 *
	 * @param string $message What the service said.
	 * @param int    $status  The HTTP status, or 0.
	 */
	public function __construct( string $message, public readonly int $status = 0 ) {
		parent::__construct( $message );
	}

	/**
	 * From an answer, in whichever of the API's shapes it is.
	 *
	 * @param int   $status The HTTP status.
	 * @param mixed $body   The decoded body.
	 */
	public static function of( int $status, $body ): self {
		$error = is_array( $body ) ? ( $body['error'] ?? $body['errors'] ?? null ) : null;
		if ( is_array( $error ) ) {
			$error = $error['message'] ?? implode( '; ', array_filter( $error, 'is_string' ) );
		}
		/* translators: %d: an HTTP status such as 502 */
		$unknown = sprintf( __( 'The server answered %d.', 'tillgate' ), $status );
		return new self( is_string( $error ) && '' !== $error ? $error : $unknown, $status );
	}
}
