"""A payment of a sub-merchant is refused when its account is closed, also when both happen at once."""

from django.db import migrations

# Closing an account locks its row for update, so each waits for the other and then sees what it did. Only accounts of platforms
# are ever closed; other stores' payments don't pay for the question.
GUARD = """
SET LOCAL lock_timeout = '5s';
CREATE FUNCTION payments_refuse_closed_store() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM stores_store WHERE id = NEW.store_id AND deleted_at IS NULL FOR KEY SHARE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'the account % is closed', NEW.store_id USING ERRCODE = 'check_violation', CONSTRAINT = 'payment_store_is_open';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER payment_store_is_open BEFORE INSERT ON payments_payment FOR EACH ROW WHEN (NEW.platform_id IS NOT NULL)
    EXECUTE FUNCTION payments_refuse_closed_store();
"""
NO_GUARD = """
DROP TRIGGER payment_store_is_open ON payments_payment;
DROP FUNCTION payments_refuse_closed_store();
"""


class Migration(migrations.Migration):
    """A trigger on payments."""

    dependencies = [("payments", "0008_payments_of_platforms"), ("stores", "0008_verifications")]

    operations = [migrations.RunSQL(GUARD, NO_GUARD)]
