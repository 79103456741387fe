<?php
/**
 * Takes the settings, with their keys, along. Orders keep what they know of their payments.
 *
 * @package Tillgate
 */

defined( 'WP_UNINSTALL_PLUGIN' ) || exit;

delete_option( 'woocommerce_tillgate_settings' );
delete_option( 'tillgate_catch_up_pages' );
wp_clear_scheduled_hook( 'tillgate_catch_up' );

global $wpdb;
// phpcs:ignore WordPress.DB.DirectDatabaseQuery
$wpdb->query( $wpdb->prepare( "DELETE FROM {$wpdb->options} WHERE option_name LIKE %s", $wpdb->esc_like( 'tillgate_lock_' ) . '%' ) );
