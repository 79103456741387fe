// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

/// Brings tokens from many addresses to one wallet in one transaction. The addresses have delegated
/// to this code (EIP-7702), or have signed that this contract gets the coins (EIP-3009). It stores
/// nothing: the wallet is part of the code, so that a delegated address can pay nobody else, and
/// only this contract can make it pay, which only the wallet calls.
contract Sweeper {
    /// What a token's transfer may take. Each one has all of it or the whole batch is reverted, so
    /// that an estimate is never too low for some of them.
    uint256 private constant GAS_EACH = 300_000;
    /// receiveWithAuthorization(address,address,uint256,uint256,uint256,bytes32,uint8,bytes32,bytes32)
    bytes4 private constant RECEIVE = 0xef55bec6;
    address public immutable wallet;
    address private immutable self;

    error Refused();
    error TooLittleGas();

    constructor(address wallet_) {
        wallet = wallet_;
        self = address(this);
    }

    /// A delegated address takes coins and whatever is called as it did before, and does nothing.
    fallback() external payable {}

    receive() external payable {}

    /// Each part is an address and the amount that it pays. One that fails stops no other; what was
    /// moved is in the token's own logs.
    function sweep(address token, bytes32[] calldata parts) external {
        if (msg.sender != wallet || address(this) != self) revert Refused();
        for (uint256 place = 0; place < parts.length; place++) {
            if (gasleft() < GAS_EACH + GAS_EACH / 32) revert TooLittleGas();
            uint256 part = uint256(parts[place]);
            bytes memory data = abi.encodeCall(Sweeper.pay, (token, uint96(part)));
            address payer = address(uint160(part >> 96));
            assembly ("memory-safe") {
                pop(call(GAS_EACH, payer, 0, add(data, 32), mload(data), 0, 0))
            }
        }
    }

    /// Each part is three words: an address and the amount that it pays, and what it has signed for
    /// that (EIP-3009), which this contract alone may carry out: r, and s with the parity of y
    /// (EIP-2098). One that fails stops no other. What they paid goes to the wallet at once.
    function collect(address token, bytes32 number, bytes32[] calldata words) external {
        if (msg.sender != wallet || address(this) != self) revert Refused();
        uint256 total;
        for (uint256 place = 0; place < words.length; place += 3) {
            if (gasleft() < 2 * GAS_EACH + GAS_EACH / 32) revert TooLittleGas();
            uint256 amount = uint96(uint256(words[place]));
            if (receiveFrom(token, number, amount, words[place:place + 3])) total += amount;
        }
        if (total == 0) return;
        bytes memory data = abi.encodeWithSignature("transfer(address,uint256)", wallet, total);
        assembly ("memory-safe") {
            if iszero(call(gas(), token, 0, add(data, 32), mload(data), 0, 0)) { revert(0, 0) }
        }
    }

    function receiveFrom(address token, bytes32 number, uint256 amount, bytes32[] calldata words)
        private
        returns (bool done)
    {
        address payer = address(uint160(uint256(words[0]) >> 96));
        uint8 v = uint8(27 + (uint256(words[2]) >> 255));
        bytes32 s = bytes32((uint256(words[2]) << 1) >> 1);
        bytes memory data = abi.encodeWithSelector(
            RECEIVE, payer, self, amount, 0, type(uint256).max, number, v, words[1], s
        );
        assembly ("memory-safe") {
            done := call(GAS_EACH, token, 0, add(data, 32), mload(data), 0, 0)
        }
    }

    /// Runs at a delegated address.
    function pay(address token, uint256 amount) external {
        if (msg.sender != self) revert Refused();
        bytes memory data = abi.encodeWithSignature("transfer(address,uint256)", wallet, amount);
        assembly ("memory-safe") {
            if iszero(call(gas(), token, 0, add(data, 32), mload(data), 0, 0)) { revert(0, 0) }
        }
    }
}
