import { messageOf } from "../../../../lib/error-message";
import { displayLine } from "../../../../lib/text/display";
import { listed, shortened } from "../../../../lib/text/quote";
import { isKnown } from "../../../../lib/unknown";
import { FETCH_SECONDS, packageOfferScript, parsePackageOffer } from "../../machine/rollout/package-offer";
import { backendsOf } from "../../machine/steps";
import { containerdVersions, missingPackages, type PackageOffer } from "../../plan/rollout/package-offers";
import { type NodeRolloutStep, nodeRolloutSteps } from "../../plan/steps";
import type { NodeRolloutInputs } from "../declarations";
import { allInParallel, withMachines } from "../session/machines-session";

/** How long a machine may take to answer. */
const CONNECT_SECONDS = 6;
/** No machine is asked after this time: a preview does not wait for more. */
const BEGIN_MILLISECONDS = 30_000;
/** Most characters of a reason. */
const LONGEST_REASON = 300;

/**
 * Asks the machines that get another containerd whether their repositories have it. Returns why some can't get it, and a
 * remark on those that could not be asked, which is not a refusal. Asks nothing when no such step is listed.
 */
export async function packageOffers(
  resource: string,
  inputs: NodeRolloutInputs,
  steps: readonly NodeRolloutStep[],
): Promise<{ missing: string[]; notes: string[] }> {
  const versions = containerdVersions(steps);
  const due = inputs.machines.filter(({ name }) => versions.has(name));
  if (due.length === 0) return { missing: [], notes: [] };
  const offers = new Map<string, PackageOffer>();
  const addresses = backendsOf(inputs.machines).map(({ address }) => address);
  const timeouts = { ...inputs.timeouts, ssh: CONNECT_SECONDS, dial: CONNECT_SECONDS };
  const end = Date.now() + BEGIN_MILLISECONDS;
  await withMachines(resource, { ...inputs, timeouts }, (session) =>
    allInParallel(due, async (machine) => {
      const { name } = machine;
      try {
        if (!isKnown(inputs.credentials)) throw new Error("no credentials for SSH are known");
        if (Date.now() > end) throw new Error("the machines before it took too long");
        const script = packageOfferScript(inputs.specification, name, versions.get(name) ?? "", addresses);
        const answer = await session.run(machine, script, { seconds: FETCH_SECONDS + CONNECT_SECONDS });
        offers.set(name, parsePackageOffer(answer));
      } catch (error) {
        offers.set(name, { kind: "unread", why: messageOf(error) });
      }
    }),
  );
  const wanted = [...new Set(versions.values())];
  const withVersion = (version: string) =>
    new Map(
      due.flatMap(({ name }) => {
        const offer = offers.get(name);
        return offer === undefined || versions.get(name) !== version ? [] : [[name, offer] as const];
      }),
    );
  return {
    missing: wanted.flatMap((version) => missingPackages(withVersion(version), version)).map(displayLine),
    notes: wanted.flatMap((version) => unreadNote(withVersion(version), version)),
  };
}

/** Returns a line for the machines that could not be asked, with the reason of the first. */
function unreadNote(offers: ReadonlyMap<string, PackageOffer>, version: string): string[] {
  const unread = [...offers].flatMap(([name, offer]) =>
    offer.kind === "unread" ? [{ name, ...offer }] : [],
  );
  const [first] = unread;
  if (first === undefined) return [];
  const machines = listed(unread.map(({ name }) => name));
  const why = shortened(displayLine(first.why), LONGEST_REASON);
  return [nodeRolloutSteps.format({ kind: "unreadPackage", machines, version, why })];
}
