"""How Django writes a date where no template says so, as in the records of the staff site: in the
form of every other page, with the zone."""

DATE_FORMAT = "j M Y"
DATETIME_FORMAT = "j M Y, H:i:s e"
