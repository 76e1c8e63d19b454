# RabbitMQ with its management page from Debian's packages, in the place of the official image: the same variables for the first user.
FROM debian:bookworm-slim
# The cookie that the package made would be the same in all containers; the server makes one of its own.
RUN apt-get update && apt-get install -y --no-install-recommends rabbitmq-server && apt-get clean && rm -rf /var/lib/apt/lists/* /var/lib/rabbitmq/.erlang.cookie \
 && echo '[rabbitmq_management].' >/etc/rabbitmq/enabled_plugins
COPY rabbitmq-start /usr/local/bin/
USER rabbitmq
# Its tools stand in this folder as they are; those in /usr/sbin change the user first.
ENV HOME=/var/lib/rabbitmq LANG=C.UTF-8 PATH=/usr/lib/rabbitmq/bin:/usr/local/bin:/usr/bin:/bin
VOLUME /var/lib/rabbitmq
EXPOSE 5672 15672
CMD ["rabbitmq-start"]
