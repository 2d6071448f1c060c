"""The folders through which services request container nodes (see foresail_machines.py for their content)."""
import json
import os


class MachineFolders:
    def __init__(self, folder):
        self.folder = folder

    def path(self, uuid, *parts):
        return os.path.join(self.folder, uuid, *parts)

    def read(self, uuid, name):
        try:
            with open(self.path(uuid, name), encoding="utf-8") as file:
                return json.load(file)
        except FileNotFoundError:
            return None

    def ask(self, uuid, request):
        os.makedirs(self.path(uuid), mode=0o700, exist_ok=True)
        part = self.path(uuid, "request.json.part")
        with open(part, "w", encoding="utf-8") as file:
            json.dump(request, file)
        os.replace(part, self.path(uuid, "request.json"))

    def withdraw(self, uuid):
        """Requests a machine's deletion. Returns whether there was a request."""
        try:
            os.remove(self.path(uuid, "request.json"))
        except FileNotFoundError:
            return False
        return True

    def is_gone(self, uuid):
        return not os.path.exists(self.path(uuid))
