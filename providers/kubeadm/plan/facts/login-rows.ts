import type { FactRow, Unanswered } from "./machine-reading";

type LoginRow = Omit<FactRow, "find"> & { readonly of: NonNullable<Unanswered["refused"]> };

/** Rows about the way to a machine. A machine that does not answer at all may be starting, and is only noted as unread. */
export const LOGIN_ROWS: readonly LoginRow[] = [
  {
    of: "key",
    name: "host key",
    read: "the SSH handshake",
    level: "refused",
    needs: "the pinned one, and an algorithm that both sides have",
    fix: "as the message says",
  },
  {
    of: "login",
    name: "login",
    read: "the SSH login",
    level: "refused",
    needs: "the user and the key of the configuration",
    fix: "ssh-copy-id, or set the machine's user",
  },
  {
    of: "account",
    name: "account",
    read: "the SSH login",
    level: "refused",
    needs: "one that has not expired",
    fix: "chage --expiredate -1 USER, or passwd USER",
  },
  {
    of: "sudo",
    name: "root's rights and the login shell",
    read: "sudo -n bash",
    level: "refused",
    needs: "root, or sudo without a password and without a terminal, and a shell that runs commands",
    fix: 'write "USER ALL=(ALL) NOPASSWD: ALL" to a file in /etc/sudoers.d',
  },
];

/** Returns the finding about a machine whose login fails in a way that no later run passes. */
export function loginFinding(machine: string, { unread, refused }: Unanswered) {
  const row = LOGIN_ROWS.find(({ of }) => of === refused);
  if (row === undefined) return undefined;
  return { machine, name: row.name, level: row.level, sentence: unread };
}
