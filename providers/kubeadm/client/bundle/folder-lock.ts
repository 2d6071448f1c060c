import { readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { isObject, parseJson } from "../../../../lib/json";
import { isAlive, type ProcessIdentity, readProcess } from "../../../../lib/process/identity";

/** Does work in a folder that no other process uses meanwhile. @throws Error when one does */
export async function withFolderLock<T>(folder: string, work: () => Promise<T>): Promise<T> {
  const file = path.join(folder, "lock");
  const holder = parseJson(await readFile(file, "utf8").catch(() => "null"));
  if (isIdentity(holder) && isAlive(holder))
    throw new Error(`process ${holder.pid} downloads into ${folder}; wait until it has ended`);
  // what a killed run left
  await rm(file, { force: true });
  const { pid, startTime } = readProcess(process.pid) ?? { pid: process.pid, startTime: "" };
  await writeFile(file, JSON.stringify({ pid, startTime }), { flag: "wx" });
  try {
    return await work();
  } finally {
    await rm(file, { force: true });
  }
}

const isIdentity = (value: unknown): value is ProcessIdentity =>
  isObject(value) && typeof value["pid"] === "number" && typeof value["startTime"] === "string";
