"""Several serai-nodes as one cluster, for tests."""
from node import Node, free_port, wait_for


class Cluster:
    """N nodes on this machine, named n1 ... ; the data folders are kept across restarts."""

    def __init__(self, n=3, conf=None, **settings):
        self.ports = [free_port() for _ in range(n)]
        self.settings = {
            "discovery.seed_hosts": ",".join(f"127.0.0.1:{p}" for p in self.ports),
            "cluster.initial_master_nodes": ",".join(f"n{i + 1}" for i in range(n)),
            **settings,
        }
        self.conf = conf
        self.nodes = [self.new_node(f"n{i + 1}", p) for i, p in enumerate(self.ports)]

    def new_node(self, name, port):
        node = Node(conf=self.conf, **{"node.name": name, "transport.port": port, **self.settings})
        node.name = name
        return node

    def start(self):
        """All at once: none answers before a master is elected."""
        import threading
        threads = [threading.Thread(target=n.start) for n in self.nodes]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.wait_nodes(len(self.nodes))
        return self

    def alive(self):
        return [n for n in self.nodes if n.process is not None and n.process.poll() is None]

    def wait_nodes(self, count):
        """Every node that runs knows of `count` nodes and of a master."""
        for node in self.alive():
            wait_for(f"{count} nodes at {node.name}",
                     lambda: node.call("GET", "/_cluster/health")[1].get("number_of_nodes") == count)

    def wait_green(self, index="", **query):
        node = self.alive()[0]
        status, answer = node.call("GET", f"/_cluster/health/{index}?wait_for_status=green&timeout=60s&wait_for_no_relocating_shards=true")
        assert status == 200, answer

    def ids(self):
        """Names by id."""
        state = self.alive()[0].call("GET", "/_cluster/state/nodes")[1]
        return {i: n["name"] for i, n in state["nodes"].items()}

    def __enter__(self):
        return self.start()

    def __exit__(self, kind, value, trace):
        for n in self.nodes:
            try:
                if kind is None:
                    n.stop()
            finally:
                n.clean_up()
