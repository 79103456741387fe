<?php
// The functions of WordPress that the plugin calls, as strict as the real ones or stricter.

define( 'ABSPATH', __DIR__ . '/' );

$stub_hooks   = array();
$stub_scripts = array();

function add_action( string $hook, callable $callback, int $priority = 10, int $arguments = 1 ): void {
	add_filter( $hook, $callback, $priority, $arguments );
}

function add_filter( string $hook, callable $callback, int $priority = 10, int $arguments = 1 ): void {
	$GLOBALS['stub_hooks'][ $hook ][] = $callback;
}

function do_action( string $hook, ...$arguments ): void {
	foreach ( $GLOBALS['stub_hooks'][ $hook ] ?? array() as $callback ) {
		$callback( ...$arguments );
	}
}

function apply_filters( string $hook, $value, ...$arguments ) {
	foreach ( $GLOBALS['stub_hooks'][ $hook ] ?? array() as $callback ) {
		$value = $callback( $value, ...$arguments );
	}
	return $value;
}

function __( string $text, string $domain = 'default' ): string {
	stub_require( 'tillgate' === $domain, "text of another domain: $text" );
	return $text;
}

function esc_html__( string $text, string $domain = 'default' ): string {
	return esc_html( __( $text, $domain ) );
}

function esc_html( string $text ): string {
	return htmlspecialchars( $text, ENT_QUOTES, 'UTF-8', false );
}

function esc_url_raw( string $url, ?array $protocols = null ): string {
	$scheme = parse_url( $url, PHP_URL_SCHEME );
	return in_array( $scheme, $protocols ?? array( 'http', 'https' ), true ) && parse_url( $url, PHP_URL_HOST ) ? $url : '';
}

function esc_url( string $url ): string {
	return esc_html( esc_url_raw( $url ) );
}

function sanitize_text_field( string $text ): string {
	return trim( preg_replace( '/[\r\n\t ]+/', ' ', strip_tags( $text ) ) );
}

function wp_unslash( $value ) {
	return is_string( $value ) ? stripslashes( $value ) : $value;
}

function wp_strip_all_tags( string $text ): string {
	return trim( strip_tags( $text ) );
}

function wp_json_encode( $value ) {
	return json_encode( $value );
}

function absint( $value ): int {
	return abs( (int) $value );
}

function untrailingslashit( string $text ): string {
	return rtrim( $text, '/\\' );
}

function home_url( string $path = '' ): string {
	return rtrim( getenv( 'SHOP_URL' ), '/' ) . $path;
}

function get_bloginfo( string $show ): string {
	stub_require( 'name' === $show, 'only the name is known' );
	return 'Bread &amp; Butter';
}

function plugins_url( string $path, string $file ): string {
	stub_require( is_file( dirname( $file ) . '/' . $path ), "no such file: $path" );
	return home_url( '/wp-content/plugins/tillgate/' . $path );
}

function plugin_basename( string $file ): string {
	return 'tillgate/' . basename( $file );
}

function load_plugin_textdomain( string $domain, $unused, string $path ): bool {
	stub_require( is_dir( dirname( TILLGATE_FILE, 2 ) . '/' . $path ), "no folder of translations: $path" );
	return true;
}

function wp_register_script( string $handle, string $url, array $needs, string $version, $footer ): bool {
	$GLOBALS['stub_scripts'][ $handle ] = $url;
	return true;
}

function get_option( string $name, $default = false ) {
	return Stub_State::read( 'options' )[ $name ] ?? $default;
}

function update_option( string $name, $value ): bool {
	Stub_State::change( function ( array &$state ) use ( $name, $value ) { $state['options'][ $name ] = $value; } );
	return true;
}

function delete_option( string $name ): bool {
	Stub_State::change( function ( array &$state ) use ( $name ) { unset( $state['options'][ $name ] ); } );
	return true;
}

function get_post_meta( ...$unused ) {
	throw new Stub_Refused( 'orders may be in tables of their own: use the methods of the order' );
}

function update_post_meta( ...$unused ) {
	get_post_meta();
}

function nocache_headers(): void {
	header( 'Cache-Control: no-cache, must-revalidate, max-age=0, no-store, private' );
}

/** Ends the request, as the real one does. */
function wp_send_json( $answer, int $status ): void {
	http_response_code( $status );
	header( 'Content-Type: application/json; charset=UTF-8' );
	echo wp_json_encode( $answer );
	exit;
}

class WP_Error {
	public function __construct( private string $code, private string $message ) {
		stub_require( '' !== $code && '' !== $message, 'an error has a code and a message' );
	}

	public function get_error_message(): string {
		return $this->message;
	}
}

function is_wp_error( $value ): bool {
	return $value instanceof WP_Error;
}

function wp_remote_request( string $url, array $options ) {
	stub_require( is_string( $options['body'] ?? '' ), 'a body of JSON has to be a string' );
	stub_require( ( $options['timeout'] ?? 0 ) > 0 && $options['timeout'] <= 30, 'a customer waits for this: it takes a timeout' );
	$lines = array();
	foreach ( $options['headers'] as $name => $value ) {
		stub_require( is_string( $value ) && ! preg_match( '/[\r\n]/', $value ), "a header is one line: $name" );
		$lines[] = "$name: $value";
	}
	$curl = curl_init( $url );
	curl_setopt_array(
		$curl,
		array(
			CURLOPT_CUSTOMREQUEST  => $options['method'],
			CURLOPT_HTTPHEADER     => $lines,
			CURLOPT_RETURNTRANSFER => true,
			CURLOPT_FOLLOWLOCATION => $options['redirection'] > 0,
			CURLOPT_TIMEOUT        => $options['timeout'],
			CURLOPT_USERAGENT      => $options['user-agent'],
			CURLOPT_NOPROXY        => '*',
		) + ( isset( $options['body'] ) ? array( CURLOPT_POSTFIELDS => $options['body'] ) : array() )
	);
	$body = curl_exec( $curl );
	if ( false === $body ) {
		return new WP_Error( 'http_request_failed', curl_error( $curl ) );
	}
	return array( 'body' => $body, 'status' => curl_getinfo( $curl, CURLINFO_RESPONSE_CODE ) );
}

function wp_remote_retrieve_response_code( array $answer ) {
	return $answer['status'];
}

function wp_remote_retrieve_body( array $answer ): string {
	return $answer['body'];
}

/** The three statements on options that the plugin makes, and no other. */
class wpdb {
	public string $options = 'wp_options';

	public function prepare( string $sql, ...$values ): array {
		stub_require( preg_match_all( '/%[sd]/', $sql ) === count( $values ), "values that don't fit: $sql" );
		return array( $sql, $values );
	}

	public function esc_like( string $text ): string {
		return addcslashes( $text, '_%\\' );
	}

	public function query( $prepared ): int {
		stub_require( is_array( $prepared ), 'a statement has to be prepared' );
		list( $sql, $values ) = $prepared;
		return Stub_State::change(
			function ( array &$state ) use ( $sql, $values ): int {
				$options = &$state['options'];
				if ( str_starts_with( $sql, 'INSERT IGNORE INTO wp_options (option_name, option_value, autoload)' ) ) {
					if ( isset( $options[ $values[0] ] ) ) {
						return 0;
					}
					$options[ $values[0] ] = $values[1];
					return 1;
				}
				$match = match ( trim( substr( $sql, strlen( 'DELETE FROM wp_options WHERE ' ) ) ) ) {
					'option_name = %s' => fn( $name ) => $name === $values[0],
					'option_name = %s AND option_value < %d' => fn( $name ) => $name === $values[0] && (int) $options[ $name ] < $values[1],
					'option_name LIKE %s' => fn( $name ) => str_starts_with( $name, rtrim( stripslashes( $values[0] ), '%' ) ),
				};
				$gone    = array_filter( array_keys( $options ), $match );
				$options = array_diff_key( $options, array_flip( $gone ) );
				return count( $gone );
			}
		);
	}
}
$wpdb = new wpdb();

// WordPress adds slashes to what comes in; who forgets wp_unslash reads them.
$_SERVER = array_map( fn( $value ) => is_string( $value ) ? addslashes( $value ) : $value, $_SERVER );
