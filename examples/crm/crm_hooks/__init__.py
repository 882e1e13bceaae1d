"""The conversions of the customer service that need to know what names and addresses mean."""
