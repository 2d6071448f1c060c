/** The SFTP side of the tests' SSH server: enough of it to look at, make and write files in a real folder. */
import * as fs from "node:fs";
import path from "node:path";
import ssh2, { type Attributes, type SFTPWrapper } from "ssh2";

const { STATUS_CODE, flagsToString } = ssh2.utils.sftp;

/** Serves one SFTP channel; paths that are not absolute are below `directory`. */
export function serveSftp(sftp: SFTPWrapper, directory: string): void {
  const files = new Map<number, number>();
  const local = (name: string): string => path.resolve(directory, name);
  let next = 0;

  const attempt = (request: number, work: () => void): void => {
    try {
      work();
    } catch (error) {
      const missing = (error as NodeJS.ErrnoException).code === "ENOENT";
      sftp.status(
        request,
        missing ? STATUS_CODE.NO_SUCH_FILE : STATUS_CODE.FAILURE,
        (error as Error).message,
      );
    }
  };
  const done = (request: number, work: () => void): void =>
    attempt(request, () => {
      work();
      sftp.status(request, STATUS_CODE.OK);
    });
  const file = (handle: Buffer): number => {
    const descriptor = files.get(handle.readUInt32BE(0));
    if (descriptor === undefined) throw new Error("no such handle");
    return descriptor;
  };
  const attributes = (stats: fs.Stats): Attributes => ({
    mode: stats.mode,
    uid: stats.uid,
    gid: stats.gid,
    size: stats.size,
    atime: Math.floor(stats.atimeMs / 1000),
    mtime: Math.floor(stats.mtimeMs / 1000),
  });

  sftp.on("OPEN", (request, name, flags) =>
    attempt(request, () => {
      const handle = Buffer.alloc(4);
      handle.writeUInt32BE(next);
      files.set(next++, fs.openSync(local(name), flagsToString(flags) ?? "r"));
      sftp.handle(request, handle);
    }),
  );
  sftp.on("WRITE", (request, handle, offset, data) =>
    done(request, () => void fs.writeSync(file(handle), data, 0, data.length, offset)),
  );
  sftp.on("CLOSE", (request, handle) =>
    done(request, () => {
      fs.closeSync(file(handle));
      files.delete(handle.readUInt32BE(0));
    }),
  );
  sftp.on("STAT", (request, name) =>
    attempt(request, () => sftp.attrs(request, attributes(fs.statSync(local(name))))),
  );
  sftp.on("LSTAT", (request, name) =>
    attempt(request, () => sftp.attrs(request, attributes(fs.lstatSync(local(name))))),
  );
  sftp.on("FSTAT", (request, handle) =>
    attempt(request, () => sftp.attrs(request, attributes(fs.fstatSync(file(handle))))),
  );
  sftp.on("SETSTAT", (request) => done(request, () => undefined));
  sftp.on("FSETSTAT", (request) => done(request, () => undefined));
  sftp.on("MKDIR", (request, name) => done(request, () => fs.mkdirSync(local(name))));
  sftp.on("REALPATH", (request, name) =>
    attempt(request, () =>
      sftp.name(request, [{ filename: local(name), longname: "", attrs: {} as Attributes }]),
    ),
  );
}
