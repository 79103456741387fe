// SPDX-License-Identifier: MIT
pragma solidity ^0.8.26;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {EIP712} from "@openzeppelin/contracts/utils/cryptography/EIP712.sol";
import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";
import {SignatureChecker} from "@openzeppelin/contracts/utils/cryptography/SignatureChecker.sol";

/// A dollar that takes signatures as USDC does since its version 2.2: of accounts, and of contracts that say what is
/// theirs (EIP-1271). Anyone may mint.
contract SmartDollar is ERC20, EIP712 {
    bytes32 private constant TRANSFER = keccak256(
        "TransferWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)"
    );
    mapping(address => mapping(bytes32 => bool)) public authorizationState;

    event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce);

    constructor() ERC20("USD Coin", "USDC") EIP712("USD Coin", "2") {}

    function decimals() public pure override returns (uint8) {
        return 6;
    }

    function mint(address to, uint256 amount) external {
        _mint(to, amount);
    }

    function transferWithAuthorization(
        address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce,
        uint8 v, bytes32 r, bytes32 s
    ) external {
        transferWithAuthorization(from, to, value, validAfter, validBefore, nonce, abi.encodePacked(r, s, v));
    }

    function transferWithAuthorization(
        address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce,
        bytes memory signature
    ) public {
        require(block.timestamp > validAfter && block.timestamp < validBefore, "not valid now");
        require(!authorizationState[from][nonce], "used");
        bytes32 hash = _hashTypedDataV4(
            keccak256(abi.encode(TRANSFER, from, to, value, validAfter, validBefore, nonce))
        );
        require(SignatureChecker.isValidSignatureNow(from, hash, signature), "invalid signature");
        authorizationState[from][nonce] = true;
        emit AuthorizationUsed(from, nonce);
        _transfer(from, to, value);
    }
}

/// A wallet of a contract, or the code that an account has delegated itself to (EIP-7702). Its signatures are its
/// owner's behind two bytes, or the delegating account's own.
contract SmartWallet {
    address public immutable owner;

    constructor(address owner_) {
        owner = owner_;
    }

    function isValidSignature(bytes32 hash, bytes memory signature) external view returns (bytes4) {
        if (signature.length == 65) {
            return ECDSA.recover(hash, signature) == address(this) ? this.isValidSignature.selector : bytes4(0);
        }
        // Two bytes: how many times a hash is made before the answer, as passkeys' checks are dear.
        uint256 rounds = uint256(uint8(signature[0])) << 8 | uint8(signature[1]);
        bytes32 made;
        for (uint256 one; one < rounds; ++one) made = keccak256(abi.encode(made, one));
        bytes memory rest = new bytes(65);
        for (uint256 at; at < 65; ++at) rest[at] = signature[at + 2];
        return ECDSA.recover(hash, rest) == owner ? this.isValidSignature.selector : bytes4(0);
    }
}
