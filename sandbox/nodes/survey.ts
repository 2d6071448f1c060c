import { readdir, readFile } from "node:fs/promises";
import { judge, type Condition } from "./condition";
import type { ContainerEngine } from "./engine";
import { NODE_LABEL, volumeName, VOLUMES, type FleetNames } from "./names";
import { readRecord, type NodeRecord } from "./node-record";
import { nodeFolder, systemFolder } from "./paths";

/** A node, or the remains of one. */
export interface Found {
  readonly name: string;
  readonly condition: Condition;
  readonly container: string | undefined;
  /** the host PID of the container's first process */
  readonly pid: number;
  readonly volumes: readonly string[];
  readonly record: NodeRecord | undefined;
}

/** Finds all nodes of a system by the labels of containers and volumes, and by folders. */
export async function survey(engine: ContainerEngine, names: FleetNames): Promise<Found[]> {
  const [containers, volumes, folders] = await Promise.all([
    engine.containers(names.labels),
    engine.volumes(names.labels),
    readdir(systemFolder(names.system)).catch((): string[] => []),
  ]);
  const byNode = new Map(
    containers.map((container) => [container.labels[NODE_LABEL] ?? container.name, container]),
  );
  const suffix = new RegExp(`-(${Object.keys(VOLUMES).join("|")})$`);
  const ofVolumes = volumes.map((volume) => volume.slice(names.network.length + 1).replace(suffix, ""));
  const all = [...new Set([...byNode.keys(), ...ofVolumes, ...folders])].sort();
  return Promise.all(
    all.map(async (name) => {
      const container = byNode.get(name);
      const record = await readRecord(nodeFolder(names.system, name));
      const pid = container?.pid ?? 0;
      const alive = await isAlive(pid);
      return {
        name,
        condition: judge({ state: container?.state, alive, recorded: record !== undefined }),
        container: container?.name,
        pid,
        volumes: volumes.filter((volume) =>
          Object.keys(VOLUMES).some((each) => volume === volumeName(names, name, each)),
        ),
        record,
      };
    }),
  );
}

/** Returns whether a process is running; false for a zombie. */
async function isAlive(pid: number): Promise<boolean> {
  if (pid === 0) return false;
  const state = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => undefined);
  return state !== undefined && !/^\d+ \(.*\) Z /.test(state);
}
