<?php
// The functions of WordPress that the plugin calls, as strict as the real ones or stricter.

define( 'ABSPATH', __DIR__ . '/' );

$stub_hooks   = array();
$stub_scripts = array();

function add_action( $hook_name, $callback, $priority = 10, $accepted_args = 1 ) {
	return add_filter( $hook_name, $callback, $priority, $accepted_args );
}

function add_filter( $hook_name, $callback, $priority = 10, $accepted_args = 1 ) {
	stub_require( is_callable( $callback ), "nothing to call for $hook_name" );
	$GLOBALS['stub_hooks'][ $hook_name ][] = $callback;
	return true;
}

function do_action( $hook_name, ...$arg ) {
	foreach ( $GLOBALS['stub_hooks'][ $hook_name ] ?? array() as $callback ) {
		$callback( ...$arg );
	}
}

function apply_filters( $hook_name, $value, ...$args ) {
	foreach ( $GLOBALS['stub_hooks'][ $hook_name ] ?? array() as $callback ) {
		$value = $callback( $value, ...$args );
	}
	return $value;
}

function register_deactivation_hook( $file, $callback ) {
	stub_require( is_file( $file ), "no such plugin: $file" );
	add_action( 'deactivate_' . plugin_basename( $file ), $callback );
}

const MINUTE_IN_SECONDS = 60;
const DAY_IN_SECONDS    = 86400;

function wp_next_scheduled( $hook, $args = array() ) {
	return get_option( 'cron', array() )[ $hook ] ?? false;
}

function wp_schedule_event( $timestamp, $recurrence, $hook, $args = array(), $wp_error = false ) {
	stub_require( isset( apply_filters( 'cron_schedules', array() )[ $recurrence ] ), "no such interval: $recurrence" );
	update_option( 'cron', array( $hook => $timestamp ) + get_option( 'cron', array() ) );
	return true;
}

function wp_clear_scheduled_hook( $hook, $args = array(), $wp_error = false ) {
	$jobs = get_option( 'cron', array() );
	unset( $jobs[ $hook ] );
	update_option( 'cron', $jobs );
	return 1;
}

function __( $text, $domain = 'default' ) {
	stub_require( 'tillgate' === $domain, "text of another domain: $text" );
	return $text;
}

function esc_html__( $text, $domain = 'default' ) {
	return esc_html( __( $text, $domain ) );
}

function esc_html( $text ) {
	return htmlspecialchars( $text, ENT_QUOTES, 'UTF-8', false );
}

function esc_url_raw( $url, $protocols = null ) {
	$scheme = parse_url( $url, PHP_URL_SCHEME );
	return in_array( $scheme, $protocols ?? array( 'http', 'https' ), true ) && parse_url( $url, PHP_URL_HOST ) ? $url : '';
}

function esc_url( $url, $protocols = null, $_context = 'display' ) {
	return esc_html( esc_url_raw( $url ) );
}

function sanitize_text_field( $str ) {
	return trim( preg_replace( '/[\r\n\t ]+/', ' ', strip_tags( $str ) ) );
}

function wp_unslash( $value ) {
	return is_string( $value ) ? stripslashes( $value ) : $value;
}

function wp_strip_all_tags( $text, $remove_breaks = false ) {
	return trim( strip_tags( $text ) );
}

function wp_json_encode( $value, $flags = 0, $depth = 512 ) {
	return json_encode( $value, $flags, $depth );
}

function absint( $maybeint ) {
	return abs( (int) $maybeint );
}

function untrailingslashit( $value ) {
	return rtrim( $value, '/\\' );
}

function home_url( $path = '', $scheme = null ) {
	return rtrim( getenv( 'SHOP_URL' ), '/' ) . $path;
}

function get_bloginfo( $show = '', $filter = 'raw' ) {
	stub_require( 'name' === $show, 'only the name is known' );
	return 'Bread &amp; Butter';
}

function plugins_url( $path = '', $plugin = '' ) {
	stub_require( is_file( dirname( $plugin ) . '/' . $path ), "no such file: $path" );
	return home_url( '/wp-content/plugins/tillgate/' . $path );
}

function plugin_basename( $file ) {
	return 'tillgate/' . basename( $file );
}

function load_plugin_textdomain( $domain, $deprecated = false, $plugin_rel_path = false ) {
	stub_require( is_dir( dirname( TILLGATE_FILE, 2 ) . '/' . $plugin_rel_path ), "no folder of translations: $plugin_rel_path" );
	return true;
}

function wp_register_script( $handle, $src, $deps = array(), $ver = false, $args = array() ) {
	$GLOBALS['stub_scripts'][ $handle ] = $src;
	return true;
}

function get_option( $option, $default_value = false ) {
	return Stub_State::read( 'options' )[ $option ] ?? $default_value;
}

function update_option( $option, $value, $autoload = null ) {
	Stub_State::change( function ( array &$state ) use ( $option, $value ) { $state['options'][ $option ] = $value; } );
	return true;
}

function delete_option( $option ) {
	Stub_State::change( function ( array &$state ) use ( $option ) { unset( $state['options'][ $option ] ); } );
	return true;
}

function get_post_meta( $post_id, $key = '', $single = false ) {
	throw new Stub_Refused( 'orders may be in tables of their own: use the methods of the order' );
}

function update_post_meta( $post_id, $meta_key, $meta_value, $prev_value = '' ) {
	get_post_meta( $post_id );
}

function nocache_headers() {
	header( 'Cache-Control: no-cache, must-revalidate, max-age=0, no-store, private' );
}

/** Ends the request, as the real one does. */
function wp_send_json( $response, $status_code = null, $flags = 0 ) {
	http_response_code( $status_code );
	header( 'Content-Type: application/json; charset=UTF-8' );
	echo wp_json_encode( $response );
	exit;
}

class WP_Error {
	private string $stub_message;

	public function __construct( $code = '', $message = '', $data = '' ) {
		stub_require( '' !== $code && '' !== $message, 'an error has a code and a message' );
		$this->stub_message = $message;
	}

	public function get_error_message( $code = '' ) {
		return $this->stub_message;
	}
}

function is_wp_error( $thing ) {
	return $thing instanceof WP_Error;
}

function wp_remote_request( $url, $args = array() ) {
	$options = $args;
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

function wp_remote_retrieve_response_code( $response ) {
	return $response['status'];
}

function wp_remote_retrieve_body( $response ) {
	return $response['body'];
}

/** The three statements on options that the plugin makes, and no other. */
class wpdb {
	public string $options = 'wp_options';

	public function prepare( $query, ...$args ) {
		list( $sql, $values ) = array( $query, $args );
		stub_require( preg_match_all( '/%[sd]/', $sql ) === count( $values ), "values that don't fit: $sql" );
		return array( $sql, $values );
	}

	public function esc_like( $text ) {
		return addcslashes( $text, '_%\\' );
	}

	public function query( $query ) {
		stub_require( is_array( $query ), 'a statement has to be prepared' );
		list( $sql, $values ) = $query;
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
