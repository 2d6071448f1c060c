import { listed } from "../../../lib/text/quote";

/** An entry of clouds.yaml, with the fields of secure.yaml. */
export type CloudEntry = Readonly<Record<string, unknown>> & { auth?: Readonly<Record<string, unknown>> };

type Environment = Readonly<Record<string, string | undefined>>;

/** Ways to log in that foresail and Pulumi's OpenStack provider share. */
const AUTH_TYPES = ["password", "v3password", "v3applicationcredential"];

/** Fields that openstacksdk obeys, and that foresail or Pulumi's OpenStack provider would ignore. */
const UNREAD: readonly { fields: RegExp; todo: string }[] = [
  {
    fields: /^(profile|cloud)$/,
    todo: "foresail reads no profiles: write the profile's values into the entry",
  },
  { fields: /^(cert|key)$/, todo: "foresail has no client certificates: use an application credential" },
  {
    fields: /^(?!auth_).+_(endpoint_override|endpoint|service_type|service_name|interface)$/,
    todo: "foresail finds services by the cloud's catalog: leave the field out",
  },
  {
    fields: /^(networks|external_network|internal_network)$/,
    todo: "write `network` under foresail:openstack",
  },
];

/** Fields of `auth` in which only other ways to log in have something. */
const UNREAD_AUTH =
  /^(token|passcode|access_token|identity_provider|protocol|client_id|client_secret|trust_id|system_scope)$/;

/** Variables that Pulumi's OpenStack provider adds to an entry which has no such field. */
const ADDED = [
  "TOKEN USERNAME USER_ID PASSWORD PROJECT_ID PROJECT_NAME TENANT_ID TENANT_NAME DOMAIN_ID DOMAIN_NAME",
  "USER_DOMAIN_ID USER_DOMAIN_NAME PROJECT_DOMAIN_ID PROJECT_DOMAIN_NAME",
  "APPLICATION_CREDENTIAL_ID APPLICATION_CREDENTIAL_NAME APPLICATION_CREDENTIAL_SECRET",
].flatMap((names) => names.split(" "));

/**
 * Returns why a cloud can't be used as it is written: openstacksdk, foresail and Pulumi's OpenStack provider would not
 * read the same from it, so that a preview and a refresh could differ. Names fields, and never values of `auth`.
 *
 * @param region the region of the stack's configuration
 * @param isNamed whether the entry is one of clouds.yaml, and not the environment itself
 */
export function cloudEntryIssue(
  entry: CloudEntry,
  environment: Environment,
  { region, isNamed }: { region?: string | undefined; isNamed: boolean },
): string | undefined {
  const issues = isNamed
    ? [
        ...fieldIssues(entry),
        ...regionIssues(entry, environment, region),
        ...variableIssues(entry, environment),
      ]
    : [...authTypeIssues({ ...entry, auth_type: environment.OS_AUTH_TYPE })];
  return issues[0];
}

function* fieldIssues(entry: CloudEntry): Generator<string> {
  yield* authTypeIssues(entry);
  for (const field of Object.keys(entry)) {
    const unread = isSet(entry[field]) ? UNREAD.find(({ fields }) => fields.test(field)) : undefined;
    if (unread) yield `has \`${field}\`: ${unread.todo}`;
  }
  const version = entry.identity_api_version;
  if (isSet(version) && !/^v?3(\.\d+)?$/.test(String(version)))
    yield `has \`identity_api_version: ${String(version)}\`: write 3`;
  if (isSet(entry.verify) && typeof entry.verify !== "boolean")
    yield "has a `verify` that is not true or false";
  if (isSet(entry.insecure)) yield "has `insecure`: write `verify: false` in its place";
}

function* authTypeIssues({ auth = {}, auth_type: type }: CloudEntry): Generator<string> {
  if (isSet(type) && !AUTH_TYPES.includes(String(type)))
    yield `has \`auth_type: ${String(type)}\`, which foresail does not use; write one of ${listed(AUTH_TYPES)}`;
  const unread = Object.keys(auth).find((field) => UNREAD_AUTH.test(field) && isSet(auth[field]));
  if (unread !== undefined)
    yield `has \`auth.${unread}\`, which foresail does not use; use an application credential, or a user with a password`;
  const hasCredential = isSet(auth.application_credential_secret);
  if (hasCredential && isSet(type) && type !== "v3applicationcredential")
    yield `has an application credential and \`auth_type: ${String(type)}\`; write v3applicationcredential, or leave the credential out`;
  if (!hasCredential && type === "v3applicationcredential")
    yield "has `auth_type: v3applicationcredential` and no auth.application_credential_secret";
}

function* regionIssues(
  { region_name: named, regions }: CloudEntry,
  { OS_REGION_NAME: variable }: Environment,
  region: string | undefined,
): Generator<string> {
  const items: unknown[] = Array.isArray(regions) ? regions : [];
  if (items.some((item) => isSet((Object(item) as { values?: unknown }).values)))
    yield "has `regions` with `values`: write an entry for each region";
  if (region !== undefined) return;
  if (items.length > 0 && !isSet(named) && !variable)
    yield "has `regions` and no `region_name`: write `region` under foresail:openstack";
  if (variable && isSet(named) && variable !== named)
    yield `has another region than OS_REGION_NAME (${variable}): unset it, or write \`region\` under foresail:openstack`;
}

function* variableIssues({ auth = {}, ...entry }: CloudEntry, environment: Environment): Generator<string> {
  const added = ADDED.filter(
    (name) => environment[`OS_${name}`] && environment[`OS_${name}`] !== auth[name.toLowerCase()],
  );
  if (added.length > 0)
    yield `is used while the environment has ${listed(added.map((name) => `OS_${name}`))}, which Pulumi's OpenStack provider would add: unset what the entry does not say`;
  const { OS_CACERT: authority } = environment;
  if (authority && isSet(entry.cacert) && authority !== entry.cacert)
    yield "has another `cacert` than OS_CACERT: unset it";
}

const isSet = (value: unknown): boolean => value !== undefined && value !== null && value !== "";
