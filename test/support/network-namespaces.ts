import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { promisify } from "node:util";
import { waitFor } from "../../lib/wait";
import { nameInLane, ownLane } from "../lane";

const run = promisify(execFile);
const IP = ["/usr/sbin/ip", "/sbin/ip", "/usr/bin/ip"].find((file) => existsSync(file)) ?? "ip";
/** How long killed processes may take to be gone. */
const SECONDS = 20;

/** Namespaces with nothing in them but a link to the hub, and what they have as their address. */
const SPOKES = { eu1: "10.90.0.11", us1: "10.90.0.12" } as const;
export type Spoke = keyof typeof SPOKES;

/** The hub's address, the same for all. */
export const HUB_ADDRESS = "10.90.0.1";
export const addressOf = (spoke: Spoke): string => SPOKES[spoke];

const nameOf = (part: Spoke | "hub", lane = ownLane()) => nameInLane(`foresail-test-${part}`, lane);
const namesIn = (lane: number) => (["hub", "eu1", "us1"] as const).map((part) => nameOf(part, lane));

/** Returns what precedes a command that runs in a namespace. */
export const within = (part: Spoke | "hub"): readonly string[] => [IP, "netns", "exec", nameOf(part)];

/** Returns why no namespaces can be made here; undefined when they can. */
export async function whyNoNamespaces(): Promise<string | undefined> {
  try {
    await run(IP, ["netns", "add", nameOf("hub")]);
    await run(IP, ["netns", "delete", nameOf("hub")]);
    return undefined;
  } catch (error) {
    return `no network namespace can be made here: ${(error as Error).message.trim().split("\n").at(-1)}`;
  }
}

/**
 * Makes a hub and two more network namespaces, each with a link to the hub only: it reaches its own loopback address and the
 * hub, but neither this machine nor the other one. What an earlier run left is cleared first.
 */
export async function makeNamespaces(): Promise<void> {
  await clearNamespaces();
  const hub = nameOf("hub");
  await run(IP, ["netns", "add", hub]);
  await run(IP, ["-n", hub, "link", "set", "lo", "up"]);
  for (const spoke of Object.keys(SPOKES) as Spoke[]) {
    const name = nameOf(spoke);
    await run(IP, ["netns", "add", name]);
    await run(IP, ["-n", name, "link", "set", "lo", "up"]);
    await run(IP, ["-n", hub, "link", "add", spoke, "type", "veth", "peer", "name", "hub", "netns", name]);
    await link(hub, spoke, HUB_ADDRESS, SPOKES[spoke]);
    await link(name, "hub", SPOKES[spoke], HUB_ADDRESS);
  }
}

async function link(namespace: string, device: string, own: string, peer: string): Promise<void> {
  await run(IP, ["-n", namespace, "address", "add", own, "peer", `${peer}/32`, "dev", device]);
  await run(IP, ["-n", namespace, "link", "set", device, "up"]);
}

/** Kills what runs in the namespaces of a lane, and deletes them, their links too. @returns those that were there */
export async function clearNamespaces(lane = ownLane()): Promise<string[]> {
  const own = namesIn(lane).filter((name) => existsSync(`/run/netns/${name}`));
  for (const name of own) {
    await waitFor({
      what: `the processes in ${name} to end`,
      seconds: SECONDS,
      firstPauseMilliseconds: 50,
      probe: async () => {
        const pids = (await run(IP, ["netns", "pids", name])).stdout.trim().split("\n").filter(Boolean);
        for (const pid of pids) kill(Number(pid));
        return pids.length === 0 ? { done: true } : { pending: pids.join(", ") };
      },
    });
    await run(IP, ["netns", "delete", name]);
  }
  return own;
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // it ended since the listing
  }
}

const CONNECT = `
const [port, host] = process.argv.slice(1);
const socket = require("net").connect(Number(port), host);
const end = (text) => { console.log(text); process.exit(); };
socket.setTimeout(5000, () => end("ETIMEDOUT"));
socket.once("connect", () => end("connected")).once("error", ({ code }) => end(code));
`;

/** Tries a TCP connection from a namespace. @returns "connected", or the error's code */
export async function tryConnection(from: Spoke | "hub", host: string, port: number): Promise<string> {
  const [program = "", ...args] = within(from);
  const { stdout } = await run(program, [...args, process.execPath, "-e", CONNECT, String(port), host]);
  return stdout.trim();
}
