<?php
// The functions and classes that PHP files declare, with their signatures, as JSON: php tests/declared.php FILE…

ini_set( 'memory_limit', '2G' );

/** Reads one file's tokens from left to right. */
final class Reader {
	public array $functions = array();
	public array $classes   = array();

	private array $tokens;
	private int $at           = 0;
	private string $namespace = '';

	public function __construct( string $source ) {
		$this->tokens = array_values( array_filter( PhpToken::tokenize( $source ), fn( PhpToken $one ) => ! $one->is( array( T_WHITESPACE, T_COMMENT, T_OPEN_TAG, T_INLINE_HTML, T_CLOSE_TAG ) ) ) );
		$this->read( null, PHP_INT_MAX );
	}

	/** Up to the brace that closes this block: the body of a file, of a namespace or of a class. */
	private function read( ?string $class, int $end ): void {
		$before = array();
		while ( $this->at < min( $end, count( $this->tokens ) ) ) {
			$token = $this->tokens[ $this->at++ ];
			if ( $token->is( T_NAMESPACE ) ) {
				$this->namespace = $this->next()->is( array( T_STRING, T_NAME_QUALIFIED ) ) ? $this->take()->text . '\\' : '';
				$this->skip( array( '{', ';' ) );
			} elseif ( $token->is( array( T_CLASS, T_INTERFACE, T_TRAIT ) ) && $this->next()->is( T_STRING ) ) {
				$this->read_class();
				$before = array();
			} elseif ( $token->is( T_FUNCTION ) && ( $this->next()->is( T_STRING ) || $this->next()->is( '&' ) || $this->next()->is( 'list' ) ) ) {
				$this->read_function( $class, $before );
				$before = array();
			} elseif ( $token->is( array( '{', T_CURLY_OPEN, T_DOLLAR_OPEN_CURLY_BRACES ) ) && null !== $class ) {
				$this->pass_block();
			} elseif ( $token->is( array( ';', '}' ) ) ) {
				$before = array();
			} else {
				$before[] = $token;
			}
		}
	}

	private function read_class(): void {
		$name   = $this->namespace . $this->take()->text;
		$header = $this->skip( array( '{' ) );
		$parents = array_filter( $header, fn( PhpToken $one ) => $one->is( array( T_STRING, T_NAME_QUALIFIED, T_NAME_FULLY_QUALIFIED ) ) );
		$parents = array_map( fn( PhpToken $one ) => ltrim( $one->text, '\\' ), array_values( $parents ) );
		$this->classes[ $name ] ??= array( 'parents' => $parents, 'methods' => array() );
		$this->read( $name, $this->end_of_block() );
		$this->at++;
	}

	/** @param array<int, PhpToken> $before Modifiers and the comment that describes it. */
	private function read_function( ?string $class, array $before ): void {
		if ( $this->next()->is( '&' ) ) {
			$this->take();
		}
		$name = $this->take()->text;
		$this->take(); // The parenthesis.
		$signature = array(
			'parameters' => $this->parameters(),
			'returns'    => $this->next()->is( ':' ) ? $this->type_after_colon() : '',
			'described'  => $this->described( $before ),
			'static'     => array() !== array_filter( $before, fn( PhpToken $one ) => $one->is( T_STATIC ) ),
			'visibility' => 'public',
		);
		foreach ( $before as $token ) {
			$signature['visibility'] = $token->is( array( T_PRIVATE, T_PROTECTED ) ) ? $token->text : $signature['visibility'];
		}
		while ( ! $this->next()->is( array( '{', ';' ) ) ) {
			$this->take();
		}
		if ( $this->take()->is( '{' ) ) {
			$this->pass_block();
		}
		if ( null === $class ) {
			$this->functions[ $this->namespace . $name ] = $signature;
		} else {
			$this->classes[ $class ]['methods'][ $name ] = $signature;
		}
	}

	/** @return array<int, array<string, mixed>> */
	private function parameters(): array {
		$found = array();
		$one   = array();
		for ( $depth = 0; ; ) {
			$token = $this->take();
			if ( 0 === $depth && $token->is( array( ',', ')' ) ) ) {
				if ( array() !== $one ) {
					$found[] = $this->parameter( $one );
				}
				$one = array();
				if ( $token->is( ')' ) ) {
					return $found;
				}
				continue;
			}
			$depth += $token->is( array( '(', '[', '{', T_ATTRIBUTE ) ) ? 1 : ( $token->is( array( ')', ']', '}' ) ) ? -1 : 0 );
			$one[]  = $token;
		}
	}

	/** @param array<int, PhpToken> $tokens Of one parameter. */
	private function parameter( array $tokens ): array {
		$type = '';
		foreach ( $tokens as $index => $token ) {
			if ( $token->is( T_VARIABLE ) ) {
				$rest = array_slice( $tokens, $index + 2 );
				return array(
					'name'     => $token->text,
					'type'     => strtolower( str_replace( array( '&', '...' ), '', $type ) ),
					'optional' => isset( $tokens[ $index + 1 ] ) || str_contains( $type, '...' ),
					'default'  => strtolower( str_replace( array( '\\', 'array()' ), array( '', '[]' ), implode( '', array_column( $rest, 'text' ) ) ) ),
				);
			}
			$type .= $token->is( array( T_PUBLIC, T_PROTECTED, T_PRIVATE, T_READONLY, T_DOC_COMMENT ) ) ? '' : $token->text;
		}
		throw new LogicException( 'a parameter without a name: ' . implode( ' ', array_column( $tokens, 'text' ) ) );
	}

	private function type_after_colon(): string {
		$this->take();
		$type = '';
		while ( ! $this->next()->is( array( '{', ';' ) ) ) {
			$type .= $this->take()->text;
		}
		return strtolower( $type );
	}

	/** What the comment says is returned. @param array<int, PhpToken> $before Before the function. */
	private function described( array $before ): string {
		$comments = array_filter( $before, fn( PhpToken $one ) => $one->is( T_DOC_COMMENT ) );
		$last     = end( $comments );
		return $last && 1 === preg_match( '/@return\s+(\S+)/', $last->text, $found ) ? $found[1] : '';
	}

	private function next(): PhpToken {
		return $this->tokens[ $this->at ] ?? new PhpToken( T_STRING, '' );
	}

	private function take(): PhpToken {
		return $this->tokens[ $this->at++ ];
	}

	/** @return array<int, PhpToken> What is passed. */
	private function skip( array $until ): array {
		$passed = array();
		while ( ! $this->next()->is( $until ) ) {
			$passed[] = $this->take();
		}
		$this->take();
		return $passed;
	}

	private function end_of_block(): int {
		$start = $this->at;
		$this->pass_block();
		$end      = $this->at - 1;
		$this->at = $start;
		return $end;
	}

	/** To behind the brace that closes the block that is open. */
	private function pass_block(): void {
		for ( $depth = 1; $depth > 0; ) {
			$token  = $this->take();
			$depth += $token->is( array( '{', T_CURLY_OPEN, T_DOLLAR_OPEN_CURLY_BRACES ) ) ? 1 : ( $token->is( '}' ) ? -1 : 0 );
		}
	}
}

$functions = array();
$classes   = array();
foreach ( array_slice( $argv, 1 ) as $path ) {
	$found      = new Reader( (string) file_get_contents( $path ) );
	$functions += $found->functions;
	foreach ( $found->classes as $name => $class ) {
		$classes[ $name ] ??= $class;
	}
}
echo json_encode( array( 'functions' => $functions, 'classes' => $classes ), JSON_THROW_ON_ERROR | JSON_INVALID_UTF8_SUBSTITUTE );
