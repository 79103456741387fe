<?php
// What a shop's database holds, in one file, so that the web server and the tests see the same. Writes are exclusive.

final class Stub_State {
	public static string $folder = '';

	/** Change the state, and answer what the change answers. */
	public static function change( callable $change ) {
		$file = fopen( self::$folder . '/state.json', 'c+' );
		flock( $file, LOCK_EX );
		$state  = json_decode( stream_get_contents( $file ) ?: 'null', true ) ?? array( 'options' => array(), 'orders' => array(), 'next' => 1, 'log' => array() );
		$answer = $change( $state );
		rewind( $file );
		ftruncate( $file, 0 );
		fwrite( $file, json_encode( $state, JSON_THROW_ON_ERROR ) );
		fclose( $file ); // Unlocks as well.
		return $answer;
	}

	public static function read( string $part ): array {
		return self::change( fn( array &$state ) => $state[ $part ] );
	}
}

/** What the real ones refuse, or warn of. */
final class Stub_Refused extends LogicException {}

function stub_require( bool $holds, string $otherwise ): void {
	if ( ! $holds ) {
		throw new Stub_Refused( $otherwise );
	}
}
