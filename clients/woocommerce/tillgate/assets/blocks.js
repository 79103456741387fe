// The payment method in the checkout block. The server does the rest: process_payment answers where to go.
( ( { wcBlocksRegistry, wcSettings }, { element, htmlEntities } ) => {
	const settings = wcSettings.getSetting( 'tillgate_data', {} );
	const title = htmlEntities.decodeEntities( settings.title || 'Crypto' );
	const description = htmlEntities.decodeEntities( settings.description || '' );
	const Content = () => element.createElement( 'p', null, description );

	wcBlocksRegistry.registerPaymentMethod( {
		name: 'tillgate',
		label: element.createElement( 'span', null, title ),
		ariaLabel: title,
		content: element.createElement( Content ),
		edit: element.createElement( Content ),
		canMakePayment: () => true,
		supports: { features: settings.supports || [ 'products' ] },
	} );
} )( window.wc, window.wp );
