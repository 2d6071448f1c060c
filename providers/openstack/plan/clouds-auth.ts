import { listed } from "../../../lib/text/quote";

type Auth = Readonly<Record<string, unknown>>;

/** Ways to log in that foresail and Pulumi's OpenStack provider share. */
const AUTH_TYPES = ["password", "v3password", "v3applicationcredential"];

/** Fields of `auth` that foresail, openstacksdk and Pulumi's OpenStack provider read. */
export const AUTH_FIELDS = [
  "auth_url username user_id password user_domain_id user_domain_name",
  "project_id project_name project_domain_id project_domain_name domain_id domain_name",
  "application_credential_id application_credential_name application_credential_secret",
].flatMap((names) => names.split(" "));

/** Fields that only openstacksdk reads → what all read. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  tenant_id: "project_id",
  tenant_name: "project_name",
  user_name: "username",
  default_domain: "user_domain_id` and `project_domain_id",
  default_domain_id: "user_domain_id` and `project_domain_id",
  default_domain_name: "user_domain_name` and `project_domain_name",
};

/** Fields in which only other ways to log in have something. */
const OF_OTHER_LOGINS =
  /^(token|auth_token|passcode|access_token|identity_provider|protocol|client_id|client_secret|trust_id|system_scope)$/;

/**
 * Returns why credentials can't be used as they are written: openstacksdk, foresail and Pulumi's OpenStack provider would
 * not send the same to Keystone. Names fields, and never values of `auth`.
 *
 * @param isNamed whether they are those of clouds.yaml, and not the OS_… variables
 */
export function* authIssues(auth: Auth, type: unknown, isNamed: boolean): Generator<string> {
  yield* authTypeIssues(auth, type);
  if (/\/v2(\.0)?\/*$/.test(String(auth.auth_url)))
    yield "has an `auth.auth_url` of Keystone's version 2: write …/v3";
  if (isNamed) yield* fieldNameIssues(auth);
  yield* credentialIssues(auth);
  yield* userIssues(auth, isNamed);
  if (isNamed) yield* projectIssues(auth);
}

function* authTypeIssues(auth: Auth, type: unknown): Generator<string> {
  if (isSet(type) && !AUTH_TYPES.includes(String(type)))
    yield `has \`auth_type: ${String(type)}\`, which foresail does not use; write one of ${listed(AUTH_TYPES)}`;
  const unread = Object.keys(auth).find((field) => OF_OTHER_LOGINS.test(field) && isSet(auth[field]));
  if (unread !== undefined)
    yield `has \`auth.${unread}\`, which foresail does not use; use an application credential, or a user with a password`;
  const hasCredential = isSet(auth.application_credential_secret);
  if (hasCredential && isSet(type) && type !== "v3applicationcredential")
    yield `has an application credential and \`auth_type: ${String(type)}\`; write v3applicationcredential, or leave the credential out`;
  if (!hasCredential && type === "v3applicationcredential")
    yield "has `auth_type: v3applicationcredential` and no auth.application_credential_secret";
}

function* fieldNameIssues(auth: Auth): Generator<string> {
  for (const field of Object.keys(auth)) {
    if (!isSet(auth[field]) || AUTH_FIELDS.includes(field)) continue;
    const plain = field.replaceAll("-", "_");
    const other = OTHER_NAMES[plain] ?? (AUTH_FIELDS.includes(plain) ? plain : undefined);
    yield other === undefined
      ? `has \`auth.${field}\`, which is not a field of this login; it has ${listed(AUTH_FIELDS)}`
      : `has \`auth.${field}\`, which Pulumi's OpenStack provider does not read: write \`${other}\``;
  }
  if (/[{}]/.test(String(auth.auth_url)))
    yield "has an `auth.auth_url` with braces, which only openstacksdk fills in: write the address";
}

function* credentialIssues(auth: Auth): Generator<string> {
  const hasSecret = isSet(auth.application_credential_secret);
  if (hasSecret && isSet(auth.password))
    yield "has an application credential and `auth.password`, with which Pulumi's OpenStack provider would log in: leave one out";
  if (!hasSecret && (isSet(auth.application_credential_id) || isSet(auth.application_credential_name)))
    yield "has an application credential and no `auth.application_credential_secret`";
}

function* userIssues(auth: Auth, isNamed: boolean): Generator<string> {
  if (isSet(auth.application_credential_secret) && isSet(auth.application_credential_id)) return;
  if (isSet(auth.username) && isSet(auth.user_id))
    yield "has `auth.username` and `auth.user_id`: leave one out";
  // the domain of a scope is that of the user only beside a project
  const isShared =
    isSet(auth.project_id) || isSet(auth.project_name) || isSet(auth.application_credential_secret);
  const byId = isSet(auth.user_domain_id) || (isShared && isSet(auth.domain_id));
  const byName = isSet(auth.user_domain_name) || (isShared && isSet(auth.domain_name));
  if (isSet(auth.user_id)) {
    if (byId || byName)
      yield "has `auth.user_id` and the user's domain, which Pulumi's OpenStack provider refuses: leave the domain out";
    return;
  }
  if (!isSet(auth.username)) return;
  if (byId && byName) yield "has the domain of the user by id and by name: leave one out";
  if (isNamed && !byId && !byName)
    yield "has `auth.username` without its domain: write `auth.user_domain_name` or `auth.user_domain_id`";
}

function* projectIssues(auth: Auth): Generator<string> {
  if (!isSet(auth.project_name) || isSet(auth.project_id)) return;
  const hasDomain = ["project_domain_id", "project_domain_name", "domain_id", "domain_name"].some((field) =>
    isSet(auth[field]),
  );
  if (!hasDomain && !isSet(auth.application_credential_secret))
    yield "has `auth.project_name` without its domain: write `auth.project_domain_name` or `auth.project_domain_id`";
}

/** Whether a field of YAML or a variable has a value. */
export const isSet = (value: unknown): boolean => value !== undefined && value !== null && value !== "";
