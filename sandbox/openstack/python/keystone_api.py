"""keystone's API with one mend: version 27.0.0 refuses its own answers about application credentials.

Their roles carry links, which the schema of the answers does not know.
"""
from keystone.application_credential import schema

for known in (schema.application_credential_schema,
              schema.application_credential_create_response_body["properties"]["application_credential"]):
    known["properties"]["roles"]["items"]["additionalProperties"] = True

from keystone.wsgi.api import application  # noqa: E402, F401
