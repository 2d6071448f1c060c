import { listed } from "../../lib/text/quote";
import { parseUrn } from "../../lib/pulumi/state";

const UNSEEN = /error: expected resource operations for (urn:\S+) but none were seen$/;
/** "    type name **failed** 1 error", a row of the engine's display. */
const FAILED_ROW = /^\s*(\S+) (\S+) \*\*failed\*\* 1 error$/;
/** "  type (name):", before the messages about one resource. */
const HEADER = /^ {2}\S+ \((.+)\):$/;
const ERRORED = /^(\s*)(\d+) errored$/;
// eslint-disable-next-line no-control-regex
const COLORS = /\u001b\[[0-9;]*m/g;

/**
 * Filters the output of a run that is constrained by a plan: removes the errors about resources that the run did not
 * reach, of which there is one for each after a failure. Passes every other line on.
 */
export class BehindFailure {
  private readonly urns = new Set<string>();
  private readonly names = new Set<string>();
  private header: string | undefined;
  private droppedBefore = false;

  /** @returns the lines to show instead of this one, which may be kept back until the next call */
  line(text: string): string[] {
    const plain = text.replace(COLORS, "").trimEnd();
    const urn = UNSEEN.exec(plain)?.[1];
    if (urn !== undefined) {
      this.urns.add(urn);
      this.names.add(nameOf(urn));
      this.header = undefined;
      this.droppedBefore = true;
      return [];
    }
    const wasDropped = this.droppedBefore;
    this.droppedBefore = false;
    // the empty line after the messages about a resource that is not shown
    if (plain === "" && wasDropped) return [];
    const before = this.rest();
    if (HEADER.test(plain)) {
      this.header = text;
      return before;
    }
    if (this.names.has(FAILED_ROW.exec(plain)?.[2] ?? "")) return before;
    const errored = ERRORED.exec(plain);
    if (errored && this.urns.size > 0) {
      const left = Number(errored[2]) - this.urns.size;
      return left > 0 ? [...before, `${errored[1]}${left} errored`] : before;
    }
    return [...before, text];
  }

  /** Returns the line that is kept back, at the end of the output. */
  rest(): string[] {
    const held = this.header === undefined ? [] : [this.header];
    this.header = undefined;
    return held;
  }

  /** One line about all removed errors; undefined when there are none. */
  get summary(): string | undefined {
    const names = [...this.urns].filter((urn) => !urn.includes("::pulumi:providers:")).map(nameOf);
    if (names.length === 0) return undefined;
    return `not reached because of the failure, left to the next run: ${listed(names.sort())}`;
  }
}

const nameOf = (urn: string): string => parseUrn(urn).name || urn;
