"""keystone's API with one fix: version 27.0.0 rejects its own responses about application credentials.

Their roles contain links, which the schema of the responses does not allow.
"""
from keystone.application_credential import schema

for known in (schema.application_credential_schema,
              schema.application_credential_create_response_body["properties"]["application_credential"]):
    known["properties"]["roles"]["items"]["additionalProperties"] = True

from keystone.wsgi.api import application  # noqa: E402, F401
