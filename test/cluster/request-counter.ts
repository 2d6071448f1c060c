import type { TestCluster } from "./test-cluster";

type Machines = Pick<TestCluster, "onMachine">;

/** The outcome of the requests of one counter. */
export interface RequestCount {
  readonly answered: number;
  /** One line per request without a response: when, and curl's message. */
  readonly lost: readonly string[];
  /** The longest time between two answers, in milliseconds. */
  readonly longestGap: number;
}

const ASK_SECONDS = 5;
const FIRST_ANSWER_SECONDS = 60;

/**
 * Asks a URL from a machine ten times a second, each time over a connection of its own, until it is told to stop. It is
 * a unit of the machine's systemd, so it continues while the test's own connections open and close.
 */
export class RequestCounter {
  private constructor(
    private readonly cluster: Machines,
    private readonly machine: string,
    private readonly unit: string,
  ) {}

  /**
   * Begins to count with the first answer: the proxy of each node hears of a new Service in its own time.
   * @param name a DNS label, one a counter of the machine
   * @throws Error when the URL gives no answer within a minute
   */
  static async start(
    cluster: Machines,
    machine: string,
    { name, url }: { name: string; url: string },
  ): Promise<RequestCounter> {
    const counter = new RequestCounter(cluster, machine, `foresail-test-${name}`);
    const ask = `curl --silent --show-error --fail --insecure --max-time ${ASK_SECONDS} '${url}'`;
    await cluster.onMachine(
      machine,
      `
deadline=$((SECONDS + ${FIRST_ANSWER_SECONDS}))
until words=$(${ask} 2>&1 >/dev/null); do
  [ "$SECONDS" -lt "$deadline" ] || { echo "${url} gave no answer in ${FIRST_ANSWER_SECONDS} s: $words" >&2; exit 1; }
  sleep 0.2
done
cat > ${counter.path("sh")} <<'SCRIPT'
while :; do
  at=$(date +%s%3N)
  if words=$(${ask} 2>&1 >/dev/null)
  then echo "$at answered"; else echo "$at lost $words"; fi
  sleep 0.1
done
SCRIPT
systemd-run --quiet --unit=${counter.unit} --property=StandardOutput=truncate:${counter.path("log")} bash ${counter.path("sh")}`,
    );
    return counter;
  }

  /** Ends the counter. @returns what it counted @throws Error when it had ended by itself */
  async stop(): Promise<RequestCount> {
    const log = await this.cluster.onMachine(
      this.machine,
      `systemctl is-active --quiet ${this.unit} || { echo "${this.unit} had ended" >&2; exit 1; }
systemctl stop ${this.unit}
cat ${this.path("log")}`,
    );
    return countRequests(log);
  }

  private path(ending: string): string {
    return `/var/lib/${this.unit}.${ending}`;
  }
}

/** Counts a counter's log: a line a request, "<milliseconds since 1970> answered" or "… lost <words>". */
function countRequests(log: string): RequestCount {
  const lines = log.split("\n").filter((line) => /^\d+ (answered|lost)/.test(line));
  const answers = lines.filter((line) => line.endsWith(" answered")).map((line) => Number.parseInt(line, 10));
  const gaps = answers.slice(1).map((at, index) => at - (answers[index] ?? at));
  return {
    answered: answers.length,
    lost: lines.filter((line) => !line.endsWith(" answered")),
    longestGap: Math.max(0, ...gaps),
  };
}

/** Formats a count for a test's output. */
export function describeCount(what: string, { answered, lost, longestGap }: RequestCount): string {
  return `${what}: ${answered} answered, ${lost.length} lost, longest gap ${(longestGap / 1000).toFixed(1)} s`;
}
