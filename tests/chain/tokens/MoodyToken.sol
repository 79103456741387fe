// SPDX-License-Identifier: MIT
pragma solidity ^0.8.26;

/// A dollar token whose issuer may do all that issuers do: pause it, freeze a holder, take a fee. It may also
/// answer false instead of reverting, and report more than it moved. Anyone may mint and anyone is the issuer.
contract MoodyToken {
    string public constant name = "Moody Dollar";
    string public constant symbol = "MOOD";
    uint8 public constant decimals = 6;
    bool public paused;
    bool public saysFalse;
    bool public reportsGross;
    uint256 public feeBps;
    address public feeCollector;
    mapping(address => uint256) public balanceOf;
    mapping(address => bool) public isFrozen;
    mapping(address => mapping(address => uint256)) public allowance;

    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);

    function mint(address to, uint256 amount) external {
        balanceOf[to] += amount;
        emit Transfer(address(0), to, amount);
    }

    function setPaused(bool value) external {
        paused = value;
    }

    function setFrozen(address holder, bool value) external {
        isFrozen[holder] = value;
    }

    function setSaysFalse(bool value) external {
        saysFalse = value;
    }

    function setFee(uint256 bps, address collector, bool gross) external {
        feeBps = bps;
        feeCollector = collector;
        reportsGross = gross;
    }

    function approve(address spender, uint256 amount) external returns (bool) {
        allowance[msg.sender][spender] = amount;
        emit Approval(msg.sender, spender, amount);
        return true;
    }

    function transfer(address to, uint256 amount) external returns (bool) {
        return _move(msg.sender, to, amount);
    }

    function transferFrom(address from, address to, uint256 amount) external returns (bool) {
        allowance[from][msg.sender] -= amount;
        return _move(from, to, amount);
    }

    function _move(address from, address to, uint256 amount) private returns (bool) {
        if (saysFalse) return false;
        require(!paused, "paused");
        require(!isFrozen[from] && !isFrozen[to], "frozen");
        uint256 fee = amount * feeBps / 10000;
        balanceOf[from] -= amount;
        balanceOf[to] += amount - fee;
        emit Transfer(from, to, reportsGross ? amount : amount - fee);
        if (fee > 0) {
            balanceOf[feeCollector] += fee;
            if (!reportsGross) emit Transfer(from, feeCollector, fee);
        }
        return true;
    }
}
