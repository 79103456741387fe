// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

/// Receives coins for one payment and passes them to one destination, which is part of its address.
/// It has no owner, no key and no other function: whoever calls it, coins go there and nowhere else.
contract Forwarder {
    address payable public immutable destination;

    error NotPassedOn();

    constructor(address payable destination_) {
        destination = destination_;
    }

    receive() external payable {}

    /// Passes on all of a token, or of the network's own coin for the zero address. Anybody may call.
    function flush(address token) external {
        bool passed;
        if (token == address(0)) {
            (passed, ) = destination.call{value: address(this).balance}("");
        } else {
            bytes memory answer;
            (passed, answer) = token.staticcall(
                abi.encodeWithSignature("balanceOf(address)", address(this))
            );
            if (!passed || answer.length < 32) revert NotPassedOn();
            uint256 balance = abi.decode(answer, (uint256));
            (passed, answer) = token.call(
                abi.encodeWithSignature("transfer(address,uint256)", destination, balance)
            );
            // Some tokens answer nothing.
            passed = passed && (answer.length == 0 || abi.decode(answer, (bool)));
        }
        if (!passed) revert NotPassedOn();
    }
}

/// Makes forwarders at addresses that are known before they exist, and flushes many at once. It
/// keeps nothing and has no owner. A forwarder's address follows from its destination and its salt.
contract ForwarderFactory {
    function addressOf(address payable destination, bytes32 salt) public view returns (address) {
        bytes32 code = keccak256(
            abi.encodePacked(type(Forwarder).creationCode, abi.encode(destination))
        );
        return
            address(
                uint160(
                    uint256(keccak256(abi.encodePacked(bytes1(0xff), address(this), salt, code)))
                )
            );
    }

    /// Makes those of the forwarders that aren't there yet, and flushes each. Anybody may call.
    function flush(address payable destination, bytes32[] calldata salts, address token) external {
        for (uint256 place = 0; place < salts.length; place++) {
            address payable forwarder = payable(addressOf(destination, salts[place]));
            if (forwarder.code.length == 0) {
                new Forwarder{salt: salts[place]}(destination);
            }
            Forwarder(forwarder).flush(token);
        }
    }
}
