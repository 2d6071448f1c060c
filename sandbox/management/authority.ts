import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** A key and its certificate, as PEM texts and as files. */
export interface Certificate {
  key: string;
  certificate: string;
  keyFile: string;
  certificateFile: string;
}

/** How long certificates last: the recorded states of the engine's tests contain some. */
const DAYS = 36_500;

/** A certificate authority in a folder, created with the openssl command; existing files are reused. */
export class Authority {
  readonly own: Certificate;

  constructor(private readonly folder: string) {
    this.own = this.names("ca");
    if (this.isThere(this.own)) return;
    const extension = "basicConstraints=critical,CA:TRUE";
    openssl(
      "req",
      "-x509",
      ...newKeyInto(this.own),
      "-subj",
      "/CN=foresail",
      "-days",
      String(DAYS),
      "-addext",
      extension,
    );
    this.load(this.own);
  }

  /**
   * @param subject as openssl has it: "/O=system:masters/CN=admin"
   * @param names for servers: "IP:127.0.0.1", "DNS:localhost"
   */
  issue(name: string, subject: string, names: string[] = [], days = DAYS): Certificate {
    const issued = this.names(name);
    if (this.isThere(issued)) return issued;
    const extensions = names.length > 0 ? ["-addext", `subjectAltName=${names.join(",")}`] : [];
    const by = ["-CA", this.own.certificateFile, "-CAkey", this.own.keyFile];
    openssl(
      "req",
      "-x509",
      ...newKeyInto(issued),
      "-subj",
      subject,
      "-days",
      String(days),
      ...by,
      ...extensions,
    );
    this.load(issued);
    return issued;
  }

  private names(name: string): Certificate {
    const file = (ending: string) => join(this.folder, `${name}.${ending}`);
    return { key: "", certificate: "", keyFile: file("key"), certificateFile: file("crt") };
  }

  /** Reads an existing certificate. */
  private isThere(wanted: Certificate): boolean {
    if (!existsSync(wanted.certificateFile) || !existsSync(wanted.keyFile)) return false;
    this.load(wanted);
    return true;
  }

  private load(made: Certificate): void {
    made.key = readFileSync(made.keyFile, "utf8");
    made.certificate = readFileSync(made.certificateFile, "utf8");
    writeFileSync(made.keyFile, made.key, { mode: 0o600 });
  }
}

function newKeyInto({ keyFile, certificateFile }: Certificate): string[] {
  return [
    "-newkey",
    "ec",
    "-pkeyopt",
    "ec_paramgen_curve:P-256",
    "-nodes",
    "-keyout",
    keyFile,
    "-out",
    certificateFile,
  ];
}

function openssl(...args: string[]): void {
  execFileSync("openssl", args, { stdio: ["ignore", "ignore", "pipe"] });
}
