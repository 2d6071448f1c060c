/** What a machine says when it runs no step, and what to do about it. `USER` is the user of the login. */
const REMEDIES: readonly (readonly [RegExp, string])[] = [
  [
    /you must have a tty|no tty present/i,
    `On the machine, write "Defaults:USER !requiretty" to a file in /etc/sudoers.d (visudo checks it)`,
  ],
  [
    /sudo: .*(?:password is required|terminal is required|not allowed to execute)|is not in the sudoers file|may not run sudo/i,
    `On the machine, write "USER ALL=(ALL) NOPASSWD: ALL" to a file in /etc/sudoers.d (visudo checks it), or set another user for the machine`,
  ],
  [/account (?:has |is )?expired/i, "Extend the account on the machine: chage --expiredate -1 USER"],
  [
    /password.*expired|password change required|must change your password|change your password/i,
    "Set a new password for USER on the machine (passwd USER), or let it not expire: chage --maxdays -1 --lastday -1 USER",
  ],
  [
    /log ?in as the user|use the user|rather than the user/i,
    "Set the user that the machine names as the machine's user",
  ],
  [
    /account is (?:currently )?not available|nologin/i,
    "Give USER a login shell on the machine (usermod --shell /bin/bash USER), or set another user for it",
  ],
  [/sudo:.*not found|sudo: No such file/i, "Install sudo on the machine, or log in as root"],
  [
    /bash:.*not found|bash: No such file/i,
    "Install bash on the machine: foresail supports Debian and Ubuntu",
  ],
  [
    /no space left on device|disk quota exceeded/i,
    "Free space on the machine's disk: df -h shows which is full",
  ],
  [
    /read-only file system/i,
    "Find out in the machine's kernel log why the file system is read-only, and mount it for writing",
  ],
];

/**
 * Returns what to do when a machine did not run a step.
 *
 * @param words what it printed instead
 */
export function remedyOf(words: string, user: string): string {
  const [, remedy] = REMEDIES.find(([said]) => said.test(words)) ?? [];
  return `${(remedy ?? OTHERWISE).replaceAll("USER", () => user)}, then run the command again.`;
}

const OTHERWISE =
  "Check the login shell of USER, its startup files, and forced commands in authorized_keys or sshd_config: a step needs " +
  "that SSH runs a command of its own as root";
