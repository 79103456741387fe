"""Django's form of a date without a template's own, as in the records of the staff site: the form
of every other page, with the zone."""

DATE_FORMAT = "j M Y"
DATETIME_FORMAT = "j M Y, H:i:s e"
