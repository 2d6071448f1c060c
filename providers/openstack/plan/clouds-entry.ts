import { listed } from "../../../lib/text/quote";
import { AUTH_FIELDS, authIssues, isSet } from "./clouds-auth";

/** An entry of clouds.yaml, with the fields of secure.yaml. */
export type CloudEntry = Readonly<Record<string, unknown>> & { auth?: Readonly<Record<string, unknown>> };

type Environment = Readonly<Record<string, string | undefined>>;

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
    fields: /^(default_domain|default_domain_id|default_domain_name)$/,
    todo: "write the domains under `auth`",
  },
  { fields: /^vendor_hook$/, todo: "foresail runs no hooks: leave the field out" },
];

/** Fields that foresail or Pulumi's OpenStack provider reads. */
const READ: readonly string[] = [
  ...["auth", "auth_type", "cacert", "endpoint_type", "identity_api_version", "insecure", "interface"],
  ...["region_name", "regions", "verify"],
];

/** Variables that Pulumi's OpenStack provider adds to an entry, with the field that it then has to have. */
const ADDED: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    [...AUTH_FIELDS.filter((field) => field !== "auth_url"), "token", "auth_token", "system_scope"].map(
      (field) => [field.toUpperCase(), field],
    ),
  ),
  TENANT_ID: "project_id",
  TENANT_NAME: "project_name",
};

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
  const { auth = {} } = entry;
  const issues = isNamed
    ? [
        ...authIssues(auth, entry.auth_type, true),
        ...fieldIssues(entry),
        ...regionIssues(entry, environment, region),
        ...variableIssues(entry, environment),
      ]
    : [...authIssues(auth, environment.OS_AUTH_TYPE, false), ...tenantIssues(environment)];
  return [...issues, ...providerVariableIssues(environment)][0];
}

function* fieldIssues(entry: CloudEntry): Generator<string> {
  for (const field of Object.keys(entry)) {
    if (!isSet(entry[field])) continue;
    // openstacksdk reads "region-name" as "region_name"
    const name = field.replaceAll("-", "_");
    const unread = UNREAD.find(({ fields }) => fields.test(name));
    if (!unread && name !== field && [...READ, ...AUTH_FIELDS].includes(name))
      yield `has \`${field}\`: write \`${name}\``;
    else if (unread) yield `has \`${field}\`: ${unread.todo}`;
    else if (AUTH_FIELDS.includes(field)) yield `has \`${field}\` beside \`auth\`: write it under \`auth\``;
  }
  const version = entry.identity_api_version;
  if (isSet(version) && String(version) !== "3")
    yield `has \`identity_api_version: ${String(version)}\`: write 3`;
  if (isSet(entry.verify) && typeof entry.verify !== "boolean")
    yield "has a `verify` that is not true or false";
  if (isSet(entry.insecure) && entry.insecure !== false)
    yield "has `insecure`: write `verify: false` in its place";
  for (const field of ["interface", "endpoint_type"])
    if (isSet(entry[field]) && typeof entry[field] !== "string")
      yield `has an \`${field}\` that is not text: write public, internal or admin`;
}

function* regionIssues(
  { region_name: named, regions }: CloudEntry,
  { OS_REGION_NAME: variable }: Environment,
  region: string | undefined,
): Generator<string> {
  const items: unknown[] = Array.isArray(regions) ? regions : [];
  if (items.some((item) => isSet((Object(item) as { values?: unknown }).values)))
    yield "has `regions` with `values`: write an entry for each region";
  const names = items.map((item) =>
    String(typeof item === "string" ? item : (Object(item) as { name?: unknown }).name),
  );
  const hasRegions = names.length > 0;
  if (region !== undefined) {
    if (hasRegions && !names.includes(region)) yield `has no region "${region}"; it has ${listed(names)}`;
    return;
  }
  // openstacksdk takes the first of the regions, whatever `region_name` says
  if (hasRegions && names[0] !== named)
    yield "has `regions`, of which openstacksdk takes the first: write `region` under foresail:openstack";
  if (variable && isSet(named) && variable !== named)
    yield `has another region than OS_REGION_NAME (${variable}): unset it, or write \`region\` under foresail:openstack`;
}

function* variableIssues({ auth = {}, ...entry }: CloudEntry, environment: Environment): Generator<string> {
  const added = Object.keys(ADDED).filter(
    (name) => environment[`OS_${name}`] && !isSet(auth[ADDED[name] ?? ""]),
  );
  if (added.length > 0)
    yield `is used while the environment has ${listed(added.map((name) => `OS_${name}`))}, which Pulumi's OpenStack provider would add: unset what the entry does not say`;
  const { OS_CACERT: authority, OS_INSECURE: insecure, OS_ENDPOINT_TYPE: endpoints } = environment;
  if (authority && isSet(entry.cacert) && authority !== entry.cacert)
    yield "has another `cacert` than OS_CACERT: unset it";
  if (insecure && isSet(entry.verify) && entry.verify === isTrue(insecure))
    yield "has another `verify` than OS_INSECURE: unset it";
  const own = [entry.endpoint_type, entry.interface].find((value) => typeof value === "string") ?? "public";
  if (endpoints && withoutUrl(endpoints) !== withoutUrl(own))
    yield `is used while the environment has OS_ENDPOINT_TYPE (${endpoints}): unset it, or write \`interface\` in the entry`;
}

function* tenantIssues(environment: Environment): Generator<string> {
  for (const field of ["ID", "NAME"]) {
    const [project, tenant] = [environment[`OS_PROJECT_${field}`], environment[`OS_TENANT_${field}`]];
    if (project && tenant && project !== tenant)
      yield `has another OS_TENANT_${field} than OS_PROJECT_${field}: unset it`;
  }
}

/** Reports variables that Pulumi's OpenStack provider obeys, whatever the entry says, and foresail does not. */
function* providerVariableIssues(environment: Environment): Generator<string> {
  const certificate = ["OS_CERT", "OS_KEY"].find((name) => environment[name]);
  if (certificate !== undefined)
    yield `is used while the environment has ${certificate}: foresail has no client certificates; unset it`;
  const version = environment.OS_IDENTITY_API_VERSION;
  if (version && version !== "3")
    yield `is used while the environment has OS_IDENTITY_API_VERSION=${version}: write 3, or unset it`;
}

/** Returns which endpoints are meant: "internal" for "internalURL". */
export const withoutUrl = (endpoints: string): string => endpoints.replace(/URL$/, "");

/** Whether a variable says yes. */
export const isTrue = (value: string): boolean => /^(true|t|1)$/i.test(value);
