import { CUT } from "./tumblebug-recordings";

/** Differs in every run, so that only its type, and whether it is empty, are compared. */
const MADE_UP =
  /(^|\.)(sys\.)?(uid|csp\w*(Id|Name)|createdTime|CreatedTime|fetchedTime|lastTransitionTime|StartTime|(public|private|Public|Private)(IP|Ip|DNS|Key)|fingerprint|\w*Passw(or)?d|SystemId|ip|master(Ip|NodeId|VmId)|SSHAccessPoint)$/;
/** Comes from the clouds behind the server, which differ here: only its type is compared. */
const OF_CLOUDS =
  /(^|\.)(driverName|DriverName|CredentialName|latitude|longitude|regionLatitude|regionLongitude|briefAddr|display|cloudType|nativeRegion|assignedZone|zones|networkInterface|NetworkInterface|Clock|ClockGHz|Region|regionName|Name|OS\w+|osArchitecture|osPlatform|osDiskType|osDiskSizeGB)$|regionDetail\.description$/;
/** The mock driver's machine types have GPUs; those here have none. */
const OF_GPUS = /(^|\.)(Gpu|accelerator\w+)$/;
/** The server's own tally, which lags behind its list. */
const COUNTS = /(^|\.)count[A-Z]\w*$/;

/**
 * Compares an answer with the recorded one: the same fields of the same types, and the same values, but for names and
 * times that differ in every run and for what the clouds behind the server say.
 * @returns the differences; none when the responses agree
 */
export function differences(recorded: unknown, simulated: unknown, ref = ""): string[] {
  if (OF_GPUS.test(ref)) return [];
  const [expected, actual] = [typeOf(recorded), typeOf(simulated)];
  if (expected !== actual) return [`${ref}: ${expected} was recorded, and not ${actual}`];
  if (Array.isArray(recorded)) return ofLists(recorded, simulated as unknown[], ref);
  if (expected === "object") return ofObjects(recorded as Fields, simulated as Fields, ref);
  if (OF_CLOUDS.test(ref) || COUNTS.test(ref)) return [];
  if (MADE_UP.test(ref))
    return (recorded === "") === (simulated === "")
      ? []
      : [`${ref}: ${JSON.stringify(recorded)} was recorded, and not ${JSON.stringify(simulated)}`];
  const [one, other] = [normalized(recorded), normalized(simulated)];
  return one === other
    ? []
    : [`${ref}: ${JSON.stringify(one)} was recorded, and not ${JSON.stringify(other)}`];
}

type Fields = Readonly<Record<string, unknown>>;

function ofObjects(recorded: Fields, simulated: Fields, ref: string): string[] {
  const known = Object.keys(recorded).filter((name) => name !== CUT);
  const more =
    CUT in recorded
      ? []
      : Object.keys(simulated).filter((name) => !(name in recorded) && !OF_GPUS.test(name));
  return [
    ...more.map((name) => `${ref}.${name}: was not recorded`),
    ...known.flatMap((name) =>
      name in simulated || OF_GPUS.test(name)
        ? differences(recorded[name], simulated[name] ?? null, `${ref}.${name}`)
        : [`${ref}.${name}: was recorded, and is missing`],
    ),
  ];
}

function ofLists(recorded: readonly unknown[], simulated: readonly unknown[], ref: string): string[] {
  if (OF_CLOUDS.test(ref)) return [];
  const isCut = recorded.includes(CUT);
  const [known, given] = [inOrder(recorded.filter((each) => each !== CUT)), inOrder(simulated)];
  if (!isCut && known.length !== given.length)
    return [`${ref}: ${known.length} items were recorded, and not ${given.length}`];
  return known.flatMap((item, index) => {
    const key = keyOf(item);
    const match = isCut || key !== "" ? given.find((each) => keyOf(each) === key) : given[index];
    return differences(item, match, `${ref}[${key || index}]`);
  });
}

/** Lists of the server have no meaningful order. */
function inOrder(list: readonly unknown[]): unknown[] {
  return [...list].sort((a, b) => sortKey(a).localeCompare(sortKey(b)));
}

function sortKey(value: unknown): string {
  return keyOf(value) || JSON.stringify(normalized(value));
}

function keyOf(value: unknown): string {
  if (typeof value !== "object" || value === null) return "";
  const { id, Id, IId } = value as { id?: unknown; Id?: unknown; IId?: { NameId?: unknown } };
  const key = id ?? Id ?? IId?.NameId;
  return typeof key === "string" ? key : "";
}

function typeOf(value: unknown): string {
  return Array.isArray(value) ? "list" : value === null ? "null" : typeof value;
}

/** A text without what differs in every run: names that are made up, CB-Spider's address, the order of objects in it. */
function normalized(value: unknown): unknown {
  if (typeof value !== "string") return value;
  return value
    .replace(/127\.0\.0\.1:\d+\/spider/g, "<spider>")
    .replace(/\{(\S+) \1\}/g, "{vm}")
    .replace(/\b\S+ NLB (already|does|has)/g, "<nlb> NLB $1")
    .replace(/<spider>\/nlb\/[^/]+\//g, "<spider>/nlb/<nlb>/")
    .replace(/\btb[a-z0-9]{18}\b/g, "<uid>")
    .replace(/\[(\/[^\]]+)\]/g, (_, list: string) => `[${list.split(" ").sort().join(" ")}]`);
}
