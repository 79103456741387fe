"""APIs of others, for plugins that were written for them: BTCPay Server's Greenfield API v1 and
BitPay's, over the same services. Off until a store's owner turns it on (decision 945).
"""
